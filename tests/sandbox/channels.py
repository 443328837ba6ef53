"""Ways in which one bot could signal to another by what both may read: pairs of small programs.

The first program prints `ready` when it has left its trace or listens; then the second one runs. The
program that receives prints `heard`. Both have FILE, which belongs to both and is new each time
and not in memory, KEY, a number that nobody else uses, and READ_S, a time after the last reading.
"""

from dataclasses import dataclass

HEAD = """
import ctypes, fcntl, mmap, os, select, signal, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "both", "shared")

def call(result):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result

def ready(hold):
    print("ready", flush=True)
    if hold:
        time.sleep(600)

def heard(whether=True):
    print("heard" if whether else "silent", flush=True)

def hears(fd):
    ready(hold=False)
    heard(bool(select.select([fd], [], [], 2)[0]))
"""


@dataclass(frozen=True)
class Channel:
    number: int
    """In the list of escapes of docs/sandbox.md."""
    what: str
    first: str
    second: str
    first_hears: bool = False
    s1: bool = True
    """Whether S1 closes it."""


_READ = "open(FILE, 'rb').read()"
_PAGE = f"{_READ}; ready(hold=False)"
_OPEN = "fd = os.open(FILE, os.O_RDONLY)\n"
_LOCK = _OPEN + "fcntl.fcntl(fd, {}, struct.pack('hhqqi4x', {}, 0, 7, 1, 0)); ready(hold=True)"
_TEST = (
    _OPEN + "found = fcntl.fcntl(fd, {}, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 7, 1, 0))\n"
    "heard(struct.unpack('hhqqi4x', found)[0] == fcntl.F_RDLCK)"
)
_HINT, _STATE = "struct.pack('Q', 4)", "struct.unpack('I', fcntl.ioctl(fd, 0x40046629, bytes(4)))"

# fmt: off
CHANNELS = (
    Channel(23, "record locks", _LOCK.format(6, "fcntl.F_RDLCK"), _TEST.format(5)),
    Channel(23, "locks of open files", _LOCK.format(37, "fcntl.F_RDLCK"), _TEST.format(36)),
    Channel(23, "flock", _OPEN + "fcntl.flock(fd, fcntl.LOCK_EX); ready(hold=True)", _OPEN + """
try:
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    heard()
"""),
    Channel(23, "leases", _OPEN + "ready(hold=True)", _OPEN + """
try:
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
except BlockingIOError:
    heard()
"""),
    Channel(23, "F_NOTIFY", """
reads, writes = os.pipe2(os.O_NONBLOCK)
signal.signal(signal.SIGIO, lambda *_: None)
signal.set_wakeup_fd(writes)
fcntl.fcntl(os.open(os.path.dirname(FILE), os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)
hears(reads)
""", _READ, first_hears=True),
    Channel(23, "inotify", """
fd = call(libc.inotify_init1(0))
call(libc.inotify_add_watch(fd, FILE.encode(), 1))
hears(fd)
""", _READ, first_hears=True),
    Channel(23, "fanotify", """
fd = call(libc.fanotify_init(0x200, 0))
call(libc.fanotify_mark(fd, 1, ctypes.c_uint64(1), -100, FILE.encode()))
hears(fd)
""", _READ, first_hears=True),
    Channel(23, "write hints", _OPEN + f"fcntl.fcntl(fd, 1036, {_HINT}); ready(hold=False)",
            _OPEN + f"heard(fcntl.fcntl(fd, 1035, bytes(8)) == {_HINT})"),
    Channel(23, "marks of ext4", _OPEN + "fcntl.ioctl(fd, 0x6612); ready(hold=False)",
            _OPEN + f"heard({_STATE}[0] & 1)"),
    Channel(23, "times of reading", _PAGE, "heard(os.stat(FILE).st_atime > READ_S)", s1=False),
    Channel(25, "mincore", _PAGE, _OPEN + """
found = ctypes.create_string_buffer(1)
libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, fd, ctypes.c_long(0))
call(libc.mincore(ctypes.c_void_p(at), 4096, found))
heard(found.raw[0] & 1)
"""),
    Channel(25, "cachestat", _PAGE, _OPEN + """
found = (ctypes.c_uint64 * 5)()
call(libc.syscall(451, fd, (ctypes.c_uint64 * 2)(0, 4096), found, 0))
heard(found[0])
"""),
    Channel(25, "RWF_NOWAIT", _PAGE, _OPEN + """
try:
    heard(os.preadv(fd, [bytearray(1)], 0, os.RWF_NOWAIT) == 1)
except BlockingIOError:
    heard(False)
"""),
    Channel(26, "shared memory of System V",
            "call(libc.shmget(KEY, 4096, 0o1666)); ready(hold=True)",
            "found = call(libc.shmget(KEY, 0, 0)); heard(); libc.shmctl(found, 0, None)"),
    Channel(26, "semaphores of System V",
            "call(libc.semget(KEY, 1, 0o1666)); ready(hold=True)",
            "found = call(libc.semget(KEY, 0, 0)); heard(); libc.semctl(found, 0, 0)"),
    Channel(26, "message queues of System V",
            "call(libc.msgget(KEY, 0o1666)); ready(hold=True)",
            "found = call(libc.msgget(KEY, 0)); heard(); libc.msgctl(found, 0, None)"),
    Channel(26, "message queues of POSIX",
            "call(libc.mq_open(b'/%d' % KEY, 0o100, 0o666, None)); ready(hold=True)",
            "call(libc.mq_open(b'/%d' % KEY, 0)); heard(); libc.mq_unlink(b'/%d' % KEY)"),
)
# fmt: on
