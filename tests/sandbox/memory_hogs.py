"""Ways to hold memory beyond a limit: programs of a bot, each of which fills memory until it is refused or ended.

Each stops by itself below a gigabyte, so that a hog that no defence stops harms no machine of developers.
"""

from dataclasses import dataclass

HEAD = """
import array, ctypes, mmap, os, resource, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
MB = 1 << 20
TMP = os.environ["TMPDIR"]

def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def in_children(fill, count):
    "Have processes fill memory."
    for n in range(count):
        if os.fork() == 0:
            try:
                kept = fill(n)
            except OSError as error:
                print("refused:", error, flush=True)
            time.sleep(60)

def fill_socket(sender):
    sender.setblocking(False)
    try:
        while True:
            sender.send(bytes(32768))
    except BlockingIOError:
        pass
"""

TAIL = """
print("full", flush=True)
time.sleep(60)
"""


@dataclass(frozen=True)
class Hog:
    what: str
    code: str
    ended: bool = False
    """Whether it is ended for its memory."""
    refused: str = ""
    """How what it needs is refused, in its output. What is neither ended nor refused is bounded by itself."""


# fmt: off
HOGS = (
    Hog("memory of many processes", """
in_children(lambda n: bytearray(b"x" * (24 * MB)), 20)
""", ended=True),
    Hog("memory of processes whose parents have ended", """
for n in range(20):
    if os.fork() == 0:
        in_children(lambda n: bytearray(b"x" * (24 * MB)), 1)
        os._exit(0)
""", ended=True),
    Hog("memory of processes that a thread started", """
import threading
threading.Thread(target=lambda: (in_children(lambda n: bytearray(b"x" * (24 * MB)), 20), time.sleep(60))).start()
""", ended=True),
    Hog("shared memory without a file", """
kept = mmap.mmap(-1, 200 * MB)
for at in range(0, len(kept), 4096):
    kept[at] = 1
""", ended=True),
    Hog("files in memory", """
kept = []
for n in range(32):
    kept.append(os.memfd_create("hog"))
    for _ in range(15):
        os.write(kept[-1], bytes(MB))
""", refused="not permitted"),
    Hog("secret files in memory", """
call(447, 0)
kept = [call(447, 0) for n in range(100)]
""", refused="not permitted"),
    Hog("files in its folder and in /dev/shm", """
for folder in (TMP, "/dev/shm"):
    for n in range(4):
        with open(f"{folder}/{n}", "wb") as file:
            for _ in range(15):
                file.write(bytes(MB))
""", ended=True),
    Hog("files without content", """
for n in range(300_000):
    os.mknod(f"{TMP}/{n:0>200}")
""", ended=True),
    Hog("pairs of sockets", """
def fill(n):
    pairs = [socket.socketpair() for _ in range(100)]
    for pair in pairs:
        for each in pair:
            fill_socket(each)
    return pairs
in_children(fill, 12)
""", ended=True),
    Hog("sockets with large buffers", """
kept = []
for n in range(60):
    pair = socket.socketpair()
    for each in pair:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * MB)
        fill_socket(each)
    kept.append(pair)
"""),
    Hog("connections that are never accepted", """
listener = socket.socket(socket.AF_UNIX)
listener.bind(f"{TMP}/listener")
listener.listen(4096)
for n in range(2000):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"{TMP}/listener")
        fill_socket(client)
""", ended=True),
    Hog("pipes", """
def fill(n):
    kept = []
    for _ in range(120):
        kept.append(os.pipe2(os.O_NONBLOCK))
        try:
            while True:
                os.write(kept[-1][1], bytes(65536))
        except BlockingIOError:
            pass
    return kept
in_children(fill, 12)
"""),
    Hog("huge pages held by pipes", """
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
kept = []
for n in range(16):
    kept.append(os.pipe2(os.O_NONBLOCK))
    for _ in range(16):
        begin = libc.mmap(None, 4 * MB, 3, 0x22, -1, 0)
        at = (begin + 2 * MB - 1) // (2 * MB) * (2 * MB)
        libc.madvise(at, 2 * MB, 14)
        ctypes.memset(at, 1, 2 * MB)
        call(278, kept[-1][1], ctypes.byref(Part(at, 1)), 1, 0)
        libc.munmap(begin, 4 * MB)
""", refused="Invalid argument"),
    Hog("pages held by sockets", """
kept = []
for n in range(64):
    pair = socket.socketpair()
    pair[0].setblocking(False)
    kept.append(pair)
    with open(f"{TMP}/pages", "w+b") as file:
        for _ in range(15):
            file.write(bytes(MB))
        file.flush()
        for at in range(0, 15 * MB, 4096):
            try:
                os.sendfile(pair[0].fileno(), file.fileno(), at, 1)
            except BlockingIOError:
                break
        file.truncate(0)
""", refused="Invalid argument"),
    Hog("terminals", """
def fill(n):
    kept = []
    for _ in range(100):
        kept.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
        try:
            while True:
                os.write(kept[-1], bytes(4096))
        except BlockingIOError:
            pass
    return kept
in_children(fill, 12)
""", refused="No such file"),
    Hog("rules of Landlock", """
class Rules(ctypes.Structure): _fields_ = [("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]
class Port(ctypes.Structure): _fields_ = [("access", ctypes.c_uint64), ("port", ctypes.c_uint64)]
def fill(n):
    for _ in range(6):
        rules = call(444, ctypes.byref(Rules(0, 1, 0)), 16, 0)
        for port in range(65536):
            call(445, rules, 2, ctypes.byref(Port(1, port)), 0)
in_children(fill, 12)
""", refused="not permitted"),
    Hog("filters of sockets", """
class Program(ctypes.Structure): _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
steps = ctypes.create_string_buffer(b"\\x06\\0\\0\\0\\xff\\xff\\0\\0" * 4000)
program = bytes(Program(4000, ctypes.addressof(steps)))
def fill(n):
    kept = []
    for _ in range(200):
        kept.append(socket.socket(socket.AF_UNIX))
        kept[-1].setsockopt(socket.SOL_SOCKET, 26, program)
    return kept
in_children(fill, 12)
""", refused="not permitted"),
    Hog("descriptors in flight", """
kept = []
for n in range(60):
    near, far = socket.socketpair()
    inner = [socket.socketpair() for _ in range(50)]
    for pair in inner:
        for each in pair:
            fill_socket(each)
    given = array.array("i", [each.fileno() for pair in inner for each in pair])
    near.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)])
    for pair in inner:
        for each in pair:
            each.close()
    kept.append((near, far))
""", refused="Too many references"),
    Hog("watches of descriptors", """
import select
def fill(n):
    events = [os.eventfd(0) for _ in range(120)]
    kept = [select.epoll() for _ in range(120)]
    for each in kept:
        for event in events:
            each.register(event, select.EPOLLIN)
    return kept, events
in_children(fill, 20)
"""),
    Hog("pieces of memory", """
libc.mmap.restype = ctypes.c_void_p
def fill(n):
    for at in range(60_000):
        if libc.mmap(None, 4096, 1 if at % 2 else 5, 0x22, -1, 0) in (None, 2 ** 64 - 1):
            break
in_children(fill, 8)
"""),
    Hog("tables of pages", """
def fill(n):
    kept = mmap.mmap(-1, 180 * MB, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | mmap.MAP_NORESERVE)
    return kept, [kept[at] for at in range(0, len(kept), 2 * MB)]
in_children(fill, 12)
"""),
    Hog("signals that wait", """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {40})
class Info(ctypes.Structure): _fields_ = [("x", ctypes.c_int * 32)]
info = Info(); info.x[0] = 40; info.x[2] = -1
while True:
    call(129, os.getpid(), 40, ctypes.byref(info))
""", refused="temporarily unavailable"),
)
# fmt: on
