"""What a hostile bot tries: small programs that print `escaped` if they got out.

Each is run without a sandbox first where that harms nobody: one that cannot work proves nothing.
"""

from dataclasses import dataclass

HEAD = """
import ctypes, errno, os, resource, signal, socket, subprocess, sys, time
from pathlib import Path
libc = ctypes.CDLL(None, use_errno=True)

def call(number, *arguments):
    ctypes.set_errno(0)
    return libc.syscall(ctypes.c_long(number), *arguments), ctypes.get_errno()

COUNTERS = (
    "buddyinfo", "diskstats", "interrupts", "key-users", "loadavg", "locks", "pressure/cpu",
    "pressure/io", "pressure/memory", "schedstat", "softirqs", "swaps", "sys/fs/aio-nr",
    "sys/fs/file-nr", "sys/fs/inode-nr", "sys/kernel/random/entropy_avail", "uptime", "vmstat",
    "zoneinfo",
)

def escaped(of=""):
    print("escaped", of, flush=True)

def known(number, *arguments):
    "Whether the kernel looks at a call at all."
    found, error = call(number, *arguments)
    return found >= 0 or error not in (errno.EPERM, errno.ENOSYS)
"""


@dataclass(frozen=True)
class Probe:
    number: int
    """In the list of escapes of docs/sandbox.md."""
    what: str
    code: str
    plain: bool = True
    """Whether it is run without a sandbox too, and gets out."""
    s1: bool = True
    """Whether S1 denies it."""


# fmt: off
PROBES = (
    Probe(1, "list the data folder", "os.listdir(DATA) and escaped()"),
    Probe(1, "read the secrets of deals", "open(f'{DATA}/journal/deals').read() and escaped()"),
    Probe(1, "write the store", "open(f'{DATA}/arena.db', 'a').write('x') and escaped()"),
    Probe(2, "read /etc/passwd", "open('/etc/passwd').read() and escaped()"),
    Probe(2, "read /etc/hostname", "open('/etc/hostname').read() and escaped()"),
    Probe(2, "read what is at home", "open(AT_HOME, 'rb') and escaped()"),
    Probe(3, "write in the bot's folder", "Path(__file__).with_name('new').write_text('x') and escaped()"),
    Probe(3, "change the bot", "open(__file__, 'a').write('#') and escaped()"),
    Probe(3, "write in /usr", "open('/usr/arena-probe', 'w') and escaped()", plain=False),
    Probe(3, "write in the Python", "open(f'{sys.prefix}/arena-probe', 'w') and escaped()", plain=False),
    Probe(4, "read another's environment", "open(f'/proc/{NEIGHBOUR}/environ').read() and escaped()"),
    Probe(4, "see another's command line", "open(f'/proc/{NEIGHBOUR}/cmdline').read() and escaped()"),
    Probe(5, "signal to a neighbour", "os.kill(NEIGHBOUR, 0); escaped()"),
    Probe(5, "signal to the arena", "os.kill(ARENA, 0); escaped()"),
    Probe(6, "TCP to loopback", "socket.create_connection(('127.0.0.1', TCP), 2) and escaped()"),
    Probe(7, "a TCP socket of IPv6", "socket.socket(socket.AF_INET6) and escaped()"),
    Probe(7, "UDP", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', UDP)) and escaped()"),
    Probe(8, "netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) and escaped()"),
    Probe(8, "packets as they are", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW) and escaped()", plain=False),
    Probe(9, "an abstract socket", "socket.socket(socket.AF_UNIX).connect('\\0' + ABSTRACT); escaped()"),
    Probe(10, "another's socket file", "socket.socket(socket.AF_UNIX).connect(FOREIGN); escaped()"),
    Probe(12, "another's token in a list of processes", """
for folder in Path('/proc').glob('[0-9]*'):
    for name in ('environ', 'cmdline'):
        try:
            if TOKEN.encode() in (folder / name).read_bytes():
                escaped(folder)
        except OSError:
            pass
"""),
    Probe(13, "ptrace", "known(101, 0, 0, 0, 0) and escaped()"),
    Probe(13, "read memory by process_vm_readv", "known(310, NEIGHBOUR, None, 0, None, 0, 0) and escaped()"),
    Probe(14, "a user namespace", "libc.unshare(0x10000000) == 0 and escaped()"),
    Probe(14, "a user namespace by clone", "known(56, 0x10000000 | 17, 0, 0, 0, 0) and escaped()"),
    Probe(14, "clone3", "known(435, None, 0) and escaped()"),
    Probe(14, "mount", "libc.unshare(0x20000); libc.mount(b'none', b'/', b'none', 0x44000, None) == 0 and escaped()"),
    Probe(14, "chroot", "os.chroot('/'); escaped()"),
    Probe(15, "io_uring", "known(425, 1, None) and escaped()"),
    Probe(15, "bpf", "known(321, 0, None, 0) and escaped()"),
    Probe(15, "perf events", "known(298, None, 0, -1, -1, 0) and escaped()"),
    Probe(15, "keyrings", "known(250, 0, -3, 0) and escaped()"),
    Probe(15, "userfaultfd", "known(323, 0) and escaped()"),
    Probe(16, "open a sysctl for writing", "open('/proc/sys/kernel/core_pattern', 'r+') and escaped()"),
    Probe(17, "become root", "os.setuid(0); escaped()"),
    Probe(17, "gain by setuid programs", "libc.prctl(39, 0, 0, 0, 0) == 0 and escaped()"),
    Probe(17, "capabilities", """
class Head(ctypes.Structure): _fields_ = [('version', ctypes.c_uint32), ('pid', ctypes.c_int)]
sets = (ctypes.c_uint32 * 6)()
call(125, ctypes.byref(Head(0x20080522, 0)), sets)
any(sets[n] for n in (0, 1, 3, 4)) and escaped(list(sets))
"""),
    Probe(17, "make a device", "os.mknod(f'{os.environ[\"TMPDIR\"]}/null', 0o20666, os.makedev(1, 3)); escaped()"),
    Probe(17, "the memory of the machine", "open('/dev/kmsg', 'rb') and escaped()"),
    Probe(18, "descriptors of others", """
for number in range(3, 1024):
    try:
        os.fstat(number)
    except OSError:
        continue
    escaped(f'{number} {os.readlink(f"/proc/self/fd/{number}")}')
""", plain=False),
    Probe(19, "fill its folder", """
held = 0
try:
    for n in range(20):  # few, as its processor time is limited
        with open(f"{os.environ['TMPDIR']}/{n}", 'wb') as file:
            for _ in range(3):
                held += file.write(b'x' * (4 << 20))
finally:
    held > (200 << 20) and escaped(held)
""", plain=False, s1=False),
    Probe(19, "fill shared memory", """
held = 0
try:
    for n in range(20):
        with open(f'/dev/shm/{n}', 'wb') as file:
            for _ in range(3):
                held += file.write(b'x' * (4 << 20))
finally:
    held > (200 << 20) and escaped(held)
""", plain=False),
    Probe(19, "fill the root of its file system", "open('/filler', 'wb') and escaped()", plain=False),
    Probe(19, "a large file", """
with open(f"{os.environ['TMPDIR']}/large", 'wb') as file:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    file.truncate(32 << 20)
    escaped()
"""),
    Probe(20, "memory", "import mmap; len(mmap.mmap(-1, 3 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)) and escaped()"),
    Probe(20, "memory that is shared", "import mmap; len(mmap.mmap(-1, 40 << 30, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | 0x4000)) and escaped()"),
    Probe(20, "processes", """
made = 0
try:
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(1)
            os._exit(0)
        made += 1
finally:
    made >= 80 and escaped(made)
"""),
    Probe(20, "open files", "len([os.open('/dev/null', 0) for _ in range(300)]) and escaped()"),
    Probe(20, "processor time", """
while time.process_time() < 6:
    pass
escaped()
"""),
    Probe(24, "counters of the machine in /proc", """
for name in COUNTERS:
    try:
        open(f'/proc/{name}').read() and escaped(name)
    except OSError:
        pass
"""),
    Probe(24, "the load of each processor", "any(map(int, open('/proc/stat').readline().split()[1:])) and escaped()"),
    Probe(24, "the memory in use", "'Active' in open('/proc/meminfo').read() and escaped()"),
    Probe(24, "sysinfo", "call(99, bytes(256))[0] == 0 and escaped()"),
    Probe(24, "free blocks of the disk", "os.statvfs('/usr') and escaped()"),
    Probe(24, "requests of asynchronous files", "call(206, 1, ctypes.byref(ctypes.c_ulong()))[0] == 0 and escaped()"),
)
# fmt: on

# fmt: off
OF_MANIFESTS = (
    Probe(20, "memory beyond the manifest's", "import mmap; len(mmap.mmap(-1, 512 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)) and escaped()"),
    Probe(20, "processes beyond the manifest's", """
made = 0
try:
    for _ in range(20):
        if os.fork() == 0:
            time.sleep(1)
            os._exit(0)
        made += 1
finally:
    made >= 12 and escaped(made)
"""),
)
"""Within what any bot may use, and beyond what its manifest may ask for."""
# fmt: on
