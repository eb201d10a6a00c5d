datetime, time, calendar, zoneinfo.

# === date_basics
from datetime import date, timedelta
d = date(2024, 2, 28)
print(d + timedelta(days=2), d.weekday(), d.isoweekday(), d.isoformat(), d.strftime("%d/%m/%y %A"), d.replace(year=2023), d.toordinal(), d.timetuple().tm_yday)
print(date.fromisoformat("2024-12-25") - d, (date(2025, 1, 1) - date(2024, 1, 1)).days, d.isocalendar(), date.min, date.max, d < date(2024, 3, 1), repr(d), date.fromordinal(738000))
try:
    date(2023, 2, 29)
except ValueError as error:
    print(error)

# === datetime_basics
from datetime import datetime, timedelta, timezone, time
dt = datetime(2024, 5, 17, 14, 30, 15, 123456)
print(dt, dt.date(), dt.time(), dt.isoformat(), dt.isoformat(timespec="minutes"), dt.strftime("%Y-%m-%dT%H:%M:%S.%f %p %j"), repr(dt), dt.replace(microsecond=0), dt.ctime())
print(datetime.strptime("17 May 2024 2:30PM", "%d %B %Y %I:%M%p"), datetime.fromisoformat("2024-05-17T10:00:00+02:00"), datetime.combine(dt.date(), time(1, 2)), dt.timestamp() == dt.timestamp(), datetime.fromtimestamp(0, timezone.utc), datetime(2024, 1, 1, tzinfo=timezone.utc).timestamp())
try:
    datetime.strptime("2024-13-01", "%Y-%m-%d")
except ValueError as error:
    print(error)

# === timedelta_arithmetic
from datetime import timedelta, datetime
t = timedelta(days=1, hours=25, minutes=61, seconds=-1)
print(t, repr(t), t.total_seconds(), t.days, t.seconds, t * 2, t / 2, -t, abs(-t), t // timedelta(hours=1), t % timedelta(hours=1), timedelta(weeks=1) > t, sum([timedelta(1), timedelta(2)], timedelta()), divmod(t, timedelta(days=1)), timedelta(milliseconds=1.5))
a, b = datetime(2024, 1, 1), datetime(2024, 3, 1, 12)
print(b - a, (b - a).days, a + (b - a) / 2)

# === timezones
from datetime import datetime, timezone, timedelta
tz = timezone(timedelta(hours=5, minutes=30), "IST")
dt = datetime(2024, 1, 1, 12, tzinfo=tz)
print(dt, dt.astimezone(timezone.utc), dt.utcoffset(), dt.tzname(), dt == datetime(2024, 1, 1, 6, 30, tzinfo=timezone.utc), timezone.utc, tz)
try:
    dt < datetime(2024, 1, 1)
except TypeError as error:
    print(error)

# === zoneinfo_module
from zoneinfo import ZoneInfo
from datetime import datetime, timedelta
ny = ZoneInfo("America/New_York")
summer, winter = datetime(2024, 7, 1, 12, tzinfo=ny), datetime(2024, 1, 1, 12, tzinfo=ny)
print(summer, summer.tzname(), winter.utcoffset(), summer.astimezone(ZoneInfo("Europe/Berlin")), winter.astimezone(ZoneInfo("Asia/Tokyo")), ny.key, str(ny))
print(datetime(2024, 11, 3, 1, 30, tzinfo=ny).fold, datetime(2024, 11, 3, 1, 30, fold=1, tzinfo=ny).utcoffset(), ZoneInfo("UTC"))

# === calendar_module
import calendar
print(calendar.isleap(2024), calendar.monthrange(2024, 2), calendar.weekday(2024, 5, 17), calendar.month_name[5], calendar.day_abbr[0], list(calendar.month_abbr)[1:4], calendar.leapdays(2000, 2024))
print(calendar.month(2024, 2))
print(calendar.monthcalendar(2024, 2), calendar.TextCalendar(calendar.SUNDAY).formatmonth(2024, 2).splitlines()[1], calendar.timegm((2024, 1, 1, 0, 0, 0)))
c = calendar.Calendar()
print([d for d in c.itermonthdays(2024, 2) if d][:3], len(list(c.itermonthdates(2024, 2))))

# === time_module
import time
print(time.gmtime(0), time.strftime("%Y-%m-%d", time.gmtime(86400)), time.strptime("2024-01-02", "%Y-%m-%d").tm_yday, time.asctime(time.gmtime(0)), time.gmtime(0).tm_year)
a = time.monotonic(); b = time.perf_counter(); time.sleep(0.001)
print(time.monotonic() > a, time.perf_counter() > b, time.time() > 1.6e9, isinstance(time.time_ns(), int))

# === age_and_business_days
from datetime import date, timedelta
def age(born, today): return today.year - born.year - ((today.month, today.day) < (born.month, born.day))
def add_business_days(start, n):
    d = start
    while n:
        d += timedelta(1)
        if d.weekday() < 5: n -= 1
    return d
def month_end(d): return (d.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
print(age(date(2000, 5, 18), date(2024, 5, 17)), add_business_days(date(2024, 5, 17), 3), [month_end(date(2024, m, 1)).day for m in range(1, 13)])

# === schedule_overlaps
from datetime import datetime, timedelta
meetings = [("09:00", "10:30"), ("10:00", "11:00"), ("13:00", "14:00"), ("13:30", "13:45")]
parse = lambda s: datetime.strptime(s, "%H:%M")
merged = []
for s, e in sorted((parse(a), parse(b)) for a, b in meetings):
    if merged and s <= merged[-1][1]:
        merged[-1][1] = max(merged[-1][1], e)
    else:
        merged.append([s, e])
print([f"{s:%H:%M}-{e:%H:%M}" for s, e in merged], sum((e - s for s, e in merged), timedelta()))

# === group_by_month
from datetime import date
from collections import Counter
from itertools import groupby
days = [date(2024, 1, 5), date(2024, 1, 20), date(2024, 3, 1), date(2023, 12, 31)]
print(Counter(d.strftime("%Y-%m") for d in days), {k: len(list(g)) for k, g in groupby(sorted(days), key=lambda d: (d.year, d.month))}, max(days) - min(days), sorted(days, reverse=True)[0])
