# kind=dos; source: generators that yield whenever they are asked to end
def stay():
    while True:
        try:
            yield
        except BaseException:
            pass
many = [stay() for _ in range(10_000)]
for each in many:
    next(each)
for each in many:
    try:
        each.close()
    except RuntimeError:
        pass
del many
while True:
    next(stay())
