//! Small programs for the kernel: one chooses a TAP's queue, one gives sockets their priority, one
//! marks connections, one stamps frames.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// linux/bpf.h.
const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_PROG_ATTACH: libc::c_long = 8;
const BPF_PROG_TYPE_SOCKET_FILTER: u32 = 1;
const BPF_PROG_TYPE_CGROUP_SOCK: u32 = 9;
const BPF_CGROUP_INET_SOCK_CREATE: u32 = 2;
const BPF_PROG_TYPE_SOCK_OPS: u32 = 13;
const BPF_CGROUP_SOCK_OPS: u32 = 3;
const BPF_SOCK_OPS_TCP_CONNECT_CB: i32 = 3;
const BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB: i32 = 5;
const BPF_FUNC_SETSOCKOPT: i32 = 49;
const BPF_LINK_CREATE: libc::c_long = 28;
const BPF_PROG_TYPE_SCHED_CLS: u32 = 3;
const BPF_TCX_INGRESS: u32 = 46;
const BPF_TCX_EGRESS: u32 = 47;
const BPF_FUNC_KTIME_GET_NS: i32 = 5;
const BPF_FUNC_SKB_STORE_BYTES: i32 = 9;
/// Nothing is decided: the next program, or the queue, gets the frame.
const TCX_NEXT: i32 = -1;
/// The frame ends here.
const TCX_DROP: i32 = 2;
/// Where a frame has its source address, and how long that is.
const SOURCE: (i32, i32) = (6, 6);
/// Offset of `priority` in `struct __sk_buff` and in `struct bpf_sock`.
const SKB_PRIORITY: i16 = 32;
const SOCK_PRIORITY: i16 = 20;

/// One instruction: operation, registers (source in the upper four bits), offset, immediate.
type Instruction = (u8, u8, i16, i32);

const EXIT: Instruction = (0x95, 0, 0, 0);

/// The queue of a frame is its priority: `return skb->priority & 7`.
///
/// # Errors
/// When the kernel refuses.
pub fn queue_by_priority() -> io::Result<OwnedFd> {
    // r0 = *(u32 *)(r1 + priority); r0 &= 7
    load(BPF_PROG_TYPE_SOCKET_FILTER, 0, &[(0x61, 0x10, SKB_PRIORITY, 0), (0x57, 0, 0, 7), EXIT])
}

/// Every IPv4 or IPv6 socket that a process of this group creates has this priority (0 to 7) from
/// the start.
///
/// # Errors
/// When the kernel refuses, or the folder is not a control group of version 2.
pub fn prioritise_sockets(cgroup: &OwnedFd, priority: u8) -> io::Result<()> {
    attach(cgroup, &load_priority(priority)?, BPF_CGROUP_INET_SOCK_CREATE)
}

/// Every TCP connection that a process of this group opens has this code point (1 to 63; 0 for
/// none) from its first segment on, as if the program had set the option `IP_TOS` itself. The
/// priority is set again: that option changes it. What a process of this group accepts gets the
/// priority too: Linux gives a new connection none of its listener's (`sk_clone_lock`).
///
/// # Errors
/// When the kernel refuses, or the folder is not a control group of version 2.
pub fn mark_connections(cgroup: &OwnedFd, code_point: u8, priority: u8) -> io::Result<()> {
    attach(cgroup, &load_mark(code_point, priority)?, BPF_CGROUP_SOCK_OPS)
}

/// Every frame that leaves by an interface of the calling thread's network namespace carries in the
/// place of its source address the lower 48 bits of CLOCK_MONOTONIC (ns) at the moment at which it
/// comes to the interface's queue. It holds as long as what is returned is open; from Linux 6.6 on.
///
/// # Errors
/// When the kernel refuses.
pub fn stamp_frames(interface: u32) -> io::Result<OwnedFd> {
    let (offset, bytes) = SOURCE;
    // r6 = context; *(u64 *)(stack - 8) = ktime_get_ns(); skb_store_bytes(context, 6, stack - 8, 6,
    // 0); return TCX_NEXT
    let program = [
        (0xbf, 0x16, 0, 0),
        (0x85, 0, 0, BPF_FUNC_KTIME_GET_NS),
        (0x7b, 0x0a, -8, 0),
        (0xbf, 0x61, 0, 0),
        (0xb7, 0x02, 0, offset),
        (0xbf, 0xa3, 0, 0),
        (0x07, 0x03, 0, -8),
        (0xb7, 0x04, 0, bytes),
        (0xb7, 0x05, 0, 0),
        (0x85, 0, 0, BPF_FUNC_SKB_STORE_BYTES),
        (0xb7, 0, 0, TCX_NEXT),
        EXIT,
    ];
    link(&program, interface, BPF_TCX_EGRESS)
}

/// Frames that arrive at an interface of the calling thread's network namespace reach packet
/// sockets and nothing else: the host does not answer. It holds as long as the returned file is
/// open; from Linux 6.6 on.
///
/// # Errors
/// When the kernel refuses.
pub fn drop_arrivals(interface: u32) -> io::Result<OwnedFd> {
    link(&[(0xb7, 0, 0, TCX_DROP), EXIT], interface, BPF_TCX_INGRESS)
}

fn link(program: &[Instruction], interface: u32, place: u32) -> io::Result<OwnedFd> {
    let program = load(BPF_PROG_TYPE_SCHED_CLS, 0, program)?;
    // struct bpf_attr of BPF_LINK_CREATE as 32-bit words: program, interface, attach type, flags,
    // ...
    let mut attributes = [0_u32; 16];
    attributes[..3].copy_from_slice(&[program.as_raw_fd() as u32, interface, place]);
    Ok(owned(call(BPF_LINK_CREATE, &mut attributes)?))
}

/// Whether the kernel takes all of these programs from this process. They are loaded and let go.
pub fn are_allowed() -> bool {
    queue_by_priority().and_then(|_| load_priority(0)).and_then(|_| load_mark(1, 0)).is_ok()
}

fn load_priority(priority: u8) -> io::Result<OwnedFd> {
    // w2 = priority; *(u32 *)(r1 + priority) = r2; r0 = 1
    let set = [
        (0xb7, 0x02, 0, i32::from(priority)),
        (0x63, 0x21, SOCK_PRIORITY, 0),
        (0xb7, 0, 0, 1),
        EXIT,
    ];
    load(BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, &set)
}

fn load_mark(code_point: u8, priority: u8) -> io::Result<OwnedFd> {
    let marked = match code_point {
        0 => vec![],
        _ => set_option(libc::IPPROTO_IP, libc::IP_TOS, i32::from(code_point) << 2).to_vec(),
    };
    let prioritised = set_option(libc::SOL_SOCKET, libc::SO_PRIORITY, i32::from(priority));
    let (to_priority, to_end) =
        (marked.len() as i16 + 1, (marked.len() + prioritised.len()) as i16);
    // r6 = context; if (context->op == PASSIVE_ESTABLISHED_CB) goto priority; if (context->op !=
    // TCP_CONNECT_CB) goto end
    let mut program = vec![
        (0xbf, 0x16, 0, 0),
        (0x61, 0x12, 0, 0),
        (0x15, 0x02, to_priority, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB),
        (0x55, 0x02, to_end, BPF_SOCK_OPS_TCP_CONNECT_CB),
    ];
    program.extend(marked);
    program.extend(prioritised);
    program.extend([(0xb7, 0, 0, 1), EXIT]);
    load(BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, &program)
}

/// `*(u32 *)(stack - 4) = value; setsockopt(context, level, option, stack - 4, 4)`, with the
/// context in r6.
fn set_option(level: i32, option: i32, value: i32) -> [Instruction; 8] {
    [
        (0x62, 0x0a, -4, value),
        (0xbf, 0x61, 0, 0),
        (0xb7, 0x02, 0, level),
        (0xb7, 0x03, 0, option),
        (0xbf, 0xa4, 0, 0),
        (0x07, 0x04, 0, -4),
        (0xb7, 0x05, 0, 4),
        (0x85, 0, 0, BPF_FUNC_SETSOCKOPT),
    ]
}

fn attach(cgroup: &OwnedFd, program: &OwnedFd, kind: u32) -> io::Result<()> {
    let mut attributes = [0_u32; 4];
    attributes[0] = cgroup.as_raw_fd() as u32;
    attributes[1] = program.as_raw_fd() as u32;
    attributes[2] = kind;
    call(BPF_PROG_ATTACH, &mut attributes).map(drop)
}

fn load(kind: u32, attach_type: u32, program: &[Instruction]) -> io::Result<OwnedFd> {
    let encode = |&(operation, registers, offset, immediate): &Instruction| {
        let [o0, o1] = offset.to_le_bytes();
        let [i0, i1, i2, i3] = immediate.to_le_bytes();
        u64::from_le_bytes([operation, registers, o0, o1, i0, i1, i2, i3])
    };
    let code: Vec<u64> = program.iter().map(encode).collect();
    let licence = c"Apache-2.0";
    // struct bpf_attr of BPF_PROG_LOAD as 32-bit words: type, count, code, licence, ..., expected
    // attach type.
    let mut attributes = [0_u32; 32];
    attributes[0] = kind;
    attributes[1] = code.len() as u32;
    put_pointer(&mut attributes[2..4], code.as_ptr().addr());
    put_pointer(&mut attributes[4..6], licence.as_ptr().addr());
    attributes[17] = attach_type;
    let fd = call(BPF_PROG_LOAD, &mut attributes)?;
    drop(code);
    Ok(owned(fd))
}

fn put_pointer(words: &mut [u32], address: usize) {
    let address = address as u64;
    words[0] = address as u32;
    words[1] = (address >> 32) as u32;
}

#[expect(unsafe_code, reason = "bpf(2) has no safe wrapper")]
fn call(command: libc::c_long, attributes: &mut [u32]) -> io::Result<i32> {
    // SAFETY: the kernel reads the given number of bytes, and the pointers inside point to data
    // that outlives the call.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, attributes.as_mut_ptr(), size_of_val(attributes))
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
}

#[expect(unsafe_code, reason = "the kernel hands out file descriptors as numbers")]
fn owned(fd: i32) -> OwnedFd {
    // SAFETY: the kernel has just made this descriptor for us.
    unsafe { OwnedFd::from_raw_fd(fd) }
}
