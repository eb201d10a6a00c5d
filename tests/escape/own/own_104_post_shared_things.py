# kind=cap; source: post-exploitation: shared memory, queues and semaphores
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def wide(value):
    return ctypes.c_long(value) if type(value) is int else value
room = ctypes.create_string_buffer(200)
did = []
for name, call in (
    ("shmget", (29, 0x1234, 4096, 0o1666)), ("shmat", (30, 0, 0, 0)), ("shmctl", (31, 0, 13, room)), ("msgget", (68, 0x1234, 0o1666)),
    ("msgctl", (71, 0, 11, room)), ("semget", (64, 0x1234, 1, 0o1666)), ("semctl", (66, 0, 0, 18, room)), ("mq_open", (240, b"circlet-probe", 0o102, 0o666, 0)),
    ("mq_unlink", (241, b"circlet-probe")), ("eventfd", (284, 0)), ("eventfd2", (290, 0, 0)), ("pipe", (22, room)), ("pipe2", (293, room, 0)),
    ("epoll_create", (213, 1)), ("epoll_create1", (291, 0)), ("timerfd_create", (283, 0, 0)), ("signalfd", (282, -1, room, 8)),
    ("inotify_init", (253,)), ("inotify_init1", (294, 0)), ("fanotify_init", (300, 0, 0)), ("dup", (32, 3)), ("dup2", (33, 3, 9)),
    ("dup3", (292, 3, 9, 0)), ("memfd_create", (319, b"x", 0)), ("memfd_secret", (447, 0)), ("timer_create", (222, 0, 0, room)),
):
    if libc.syscall(*map(wide, call)) >= 0:
        did.append(name)
breached = did
