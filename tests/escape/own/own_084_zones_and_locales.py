# kind=cap; source: data files that libraries open by name
import zoneinfo, locale, codecs, unicodedata, html.entities
found = []
for name in ("/etc/passwd", "../../../etc/passwd", target["file"], "..", "UTC\0"):
    for way in (
        lambda: zoneinfo.ZoneInfo(name), lambda: zoneinfo.ZoneInfo.no_cache(name),
        lambda: locale.setlocale(locale.LC_ALL, name), lambda: codecs.open(name),
        lambda: codecs.lookup(name), lambda: codecs.getdecoder(name), lambda: locale.normalize(name) and None,
    ):
        try:
            found.append(way())
        except Exception:
            pass
escaped = [each for each in found if each]
