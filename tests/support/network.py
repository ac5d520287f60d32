# Tries to reach the services at the given ports of this machine, in every way that sockets offer, and prints
# what each try got.
import array, ctypes, json, os, socket, struct, sys, threading

aim = json.loads(sys.argv[1])
tcp, udp = aim["tcp"], aim["udp"]
libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def connected(family, address, kind=socket.SOCK_STREAM, timeout=None):
    with socket.socket(family, kind) as s:
        s.settimeout(timeout)
        s.connect(address)
        s.sendall(b"hello")
        if kind == socket.SOCK_STREAM:
            return s.recv(5)


def datagram(family, address, way):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        if way == "sendto":
            s.sendto(b"hello", address)
        elif way == "sendmsg":
            s.sendmsg([b"he", b"llo"], [], 0, address)
        else:
            s.connect(address)
            sendmmsg(s, [b"hello", b"again"])
        s.settimeout(5)
        return s.recv(5)


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Header(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("name_len", ctypes.c_uint), ("parts", ctypes.POINTER(Iovec)),
                ("parts_len", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_len", ctypes.c_size_t),
                ("flags", ctypes.c_int), ("padding", ctypes.c_int), ("sent", ctypes.c_uint), ("_", ctypes.c_uint)]


def sendmmsg(s, texts, name=None):
    headers = (Header * len(texts))()
    keep = []
    for header, text in zip(headers, texts):
        part = Iovec(ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p), len(text))
        keep.append(part)
        header.parts, header.parts_len = ctypes.pointer(part), 1
        if name:
            header.name, header.name_len = ctypes.cast(name, ctypes.c_void_p), len(name.raw)
    sent = checked(libc.sendmmsg(s.fileno(), headers, len(texts), 0))
    assert [header.sent for header in headers[:sent]] == [len(text) for text in texts[:sent]]


def sockaddr(host, port):
    return ctypes.create_string_buffer(struct.pack("=H", 2) + struct.pack(">H", port) + socket.inet_aton(host)
                                       + bytes(8), 16)


def named_by_sendmmsg():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        sendmmsg(s, [b"hello"], sockaddr("127.0.0.1", udp))
        s.settimeout(5)
        return s.recv(5)


def swapped():
    """Swaps the address between the check and the use, in a loop."""
    address = sockaddr(aim["allowed"], tcp)
    good, bad = address.raw, sockaddr("127.0.0.1", aim["other"]).raw
    over = threading.Event()

    def swap():
        while not over.is_set():
            ctypes.memmove(address, bad, 16)
            ctypes.memmove(address, good, 16)

    threading.Thread(target=swap, daemon=True).start()
    try:
        for _ in range(300):
            with socket.socket() as s:
                s.settimeout(1)
                if libc.connect(s.fileno(), address, 16) == 0 and s.getpeername()[1] == aim["other"]:
                    return b"other"
        raise PermissionError("never")
    finally:
        over.set()


def fast_open():
    with socket.socket() as s:
        s.sendto(b"hello", 0x20000000, ("127.0.0.1", tcp))
        return s.recv(5)


def served(host, port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((host, port))
        s.listen()
        return b"serve"


def opened(*kind):
    socket.socket(*kind).close()
    return b"open"


def routed():
    with socket.socket() as s:
        s.setsockopt(socket.IPPROTO_IP, 4, bytes([131, 7, 4]) + socket.inet_aton("127.0.0.1") + b"\0")
        return b"set"


def in_a_child():
    out, into = os.pipe()
    if os.fork() == 0:
        try:
            os.write(into, connected(socket.AF_INET, ("127.0.0.1", tcp)))
        except OSError as error:
            os.write(into, b"!" + os.strerror(error.errno).encode())
        os._exit(0)
    os.wait()
    answer = os.read(out, 100)
    if answer.startswith(b"!"):
        raise PermissionError(answer[1:].decode())
    return answer


def listener_of_its_own():
    # A filter that asks a listener, which the process itself would answer.
    program = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7fc00000))
    fprog = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", 1, ctypes.addressof(program)))
    checked(libc.syscall(317 if os.uname().machine == "x86_64" else 277, 1, 8, fprog))
    return b"made"


four, six = socket.AF_INET, socket.AF_INET6
tries = {
    "loopback": lambda: connected(four, ("127.0.0.1", tcp)),
    "loopback, with a timeout": lambda: connected(four, ("127.0.0.1", tcp), timeout=5),
    "localhost": lambda: connected(four, (socket.gethostbyname("localhost"), tcp)),
    "a child": in_a_child,
    "UDP by sendto": lambda: datagram(four, ("127.0.0.1", udp), "sendto"),
    "UDP by sendmsg": lambda: datagram(four, ("127.0.0.1", udp), "sendmsg"),
    "UDP by sendmmsg": lambda: datagram(four, ("127.0.0.1", udp), "sendmmsg"),
    "UDP by sendmmsg with a name": named_by_sendmmsg,
    "IPv6": lambda: connected(six, ("::1", tcp)),
    "IPv4 as IPv6": lambda: connected(six, ("::ffff:127.0.0.1", tcp)),
    # What a right to `localhost` does not cover.
    "another loopback": lambda: connected(four, ("127.0.0.2", tcp)),
    "no address": lambda: connected(four, ("0.0.0.0", tcp)),
    "no address of IPv6": lambda: connected(six, ("::", tcp)),
    "an own address": lambda: connected(four, (aim["own"], tcp)),
    "another port": lambda: connected(four, ("127.0.0.1", aim["other"])),
    "link-local": lambda: connected(four, ("169.254.169.254", 80), timeout=1),
    "a swapped address": swapped,
    "connecting while sending": fast_open,
    "all may connect": lambda: served("0.0.0.0", 0),
    "all may connect to a port": lambda: served("0.0.0.0", tcp + 1),
    "a raw socket": lambda: opened(four, socket.SOCK_RAW, 1),
    "a socket of ping": lambda: opened(four, socket.SOCK_DGRAM, 1),
    "SCTP": lambda: opened(four, socket.SOCK_STREAM, 132),
    "a path": lambda: opened(socket.AF_UNIX, socket.SOCK_STREAM),
    "other netlink": lambda: opened(socket.AF_NETLINK, socket.SOCK_RAW, 4),
    "a source route": routed,
    "a listener of its own": listener_of_its_own,
}
for name, attempt in tries.items():
    try:
        print(f"{name}: {attempt().decode()}")
    except OSError as error:
        print(f"{name}: closed ({error})")

# What works everywhere: pairs, descriptors that are passed on, interfaces, and addresses that the system chooses.
one, other = socket.socketpair()
with open("/dev/null") as null:
    one.sendmsg([b"fd"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [null.fileno()]))])
    _, control, *_ = other.recvmsg(10, 100)
    os.close(struct.unpack("i", control[0][2])[0])
print("descriptors: passed")
if socket.has_ipv6 and aim["network"]:
    socket.getaddrinfo("127.0.0.1", 80)
    print("interfaces:", len(socket.if_nameindex()) > 0)
    with socket.socket(four, socket.SOCK_DGRAM) as s:
        s.bind(("0.0.0.0", 0))
        print("bound:", s.getsockname()[1] > 0)
