//! The filters, run here as the kernel runs them.

use seccompiler::sock_filter;

use super::*;
use crate::sandbox::{Reads, Sockets};

/// The decision of the kernel about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Allowed,
    Refused(u32),
    Asked,
    Killed,
}

/// The architecture in `struct seccomp_data`: the number of the processor in ELF files, and the bits
/// for 64 bits and little endian.
const ARCHITECTURE: u32 = 0xC000_0000
    | if cfg!(target_arch = "x86_64") {
        62
    } else if cfg!(target_arch = "aarch64") {
        183
    } else {
        243
    };

/// Runs a program of the kinds of instructions that the compiler emits.
fn run(program: &[sock_filter], architecture: u32, number: u32, arguments: [u64; 6]) -> Decision {
    let load = |offset: u32| -> u32 {
        let argument = |offset: u32| arguments[(offset / 8) as usize] >> (8 * (offset % 8));
        match offset {
            0 => number,
            4 => architecture,
            8..16 => 0,
            offset => (argument(offset - 16) & 0xffff_ffff) as u32,
        }
    };
    let (mut at, mut accumulator) = (0, 0_u32);
    loop {
        let sock_filter { code, jt, jf, k } = program[at];
        let holds = match code {
            0x20 => {
                accumulator = load(k);
                at += 1;
                continue;
            }
            0x54 => {
                accumulator &= k;
                at += 1;
                continue;
            }
            0x05 => {
                at += k as usize + 1;
                continue;
            }
            0x06 => {
                return match k & 0xffff_0000 {
                    0x7fff_0000 => Decision::Allowed,
                    0x7fc0_0000 => Decision::Asked,
                    0x0005_0000 => Decision::Refused(k & 0xffff),
                    _ => Decision::Killed,
                };
            }
            0x15 => accumulator == k,
            0x25 => accumulator > k,
            0x35 => accumulator >= k,
            code => panic!("an instruction {code:#x}"),
        };
        at += 1 + usize::from(if holds { jt } else { jf });
    }
}

fn decide(filters: &Filters, number: u32, arguments: [u64; 6]) -> Decision {
    // The filter that was applied last comes first; a refusal outweighs a question.
    let programs = filters.own.iter().rev().chain(&filters.asking);
    let decisions = programs.map(|program| run(program, ARCHITECTURE, number, arguments));
    decisions
        .into_iter()
        .find(|decision| *decision != Decision::Allowed)
        .unwrap_or(Decision::Allowed)
}

fn filters(sockets: Sockets, reads: Reads) -> Filters {
    Filters::new(&Rules { reads, write: Vec::new(), sockets }, false, true).unwrap()
}

fn only() -> Reads {
    Reads::Only { read: Vec::new(), run: Vec::new(), but: Vec::new() }
}

#[test]
fn what_is_not_on_the_list_is_refused() {
    let allowed: BTreeSet<u32> = allowed::all().collect();
    let filters = [
        filters(Sockets::All, Reads::All { but: Vec::new() }),
        filters(Sockets::Some(true.into()), only()),
        filters(Sockets::Pairs, only()),
    ];
    // The numbers of each table, of the x32 table, and some that no table has.
    let tables = [0, 0x4000_0000, 0x8000_0000, 0xffff_fc00];
    for number in tables.iter().flat_map(|table| (0..1024).map(move |number| table | number)) {
        let expected = match number {
            number if allowed.contains(&number) => continue,
            number if UNKNOWN.contains(&number) => ENOSYS,
            number if number <= NEWEST => EPERM,
            _ => ENOSYS,
        };
        for filters in &filters {
            assert_eq!(decide(filters, number, [0; 6]), Decision::Refused(expected), "{number}");
        }
    }
}

#[test]
fn calls_of_another_architecture_end_the_process() {
    const I386: u32 = 3 | 0x4000_0000;
    let filters = filters(Sockets::All, Reads::All { but: Vec::new() });
    assert_eq!(run(&filters.own[0], I386, linux::__NR_read, [0; 6]), Decision::Killed);
}

#[test]
fn arguments_decide_about_some_calls() {
    use linux::*;
    const SIGCHLD: u64 = 0x11;
    const WRITING: u64 = 1 | 0o100; // O_WRONLY | O_CREAT
    let (yes, no) = (Decision::Allowed, Decision::Refused(EPERM));
    let thread = u64::from(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD);
    let own_descriptors = thread & !u64::from(CLONE_FILES);
    let cases: [(u32, &[u64], Decision); 54] = [
        (__NR_clone, &[SIGCHLD], yes),
        (__NR_clone, &[thread], yes),
        (__NR_clone, &[own_descriptors], no),
        (__NR_clone, &[u64::from(CLONE_VM | CLONE_VFORK)], yes),
        (__NR_close_range, &[3, 0xffff_ffff, 4], yes), // CLOSE_RANGE_CLOEXEC
        (__NR_close_range, &[3, 0xffff_ffff, 2], no),  // CLOSE_RANGE_UNSHARE
        (__NR_prctl, &[4, 1], yes),
        (__NR_prctl, &[4, 0], no),  // PR_SET_DUMPABLE
        (__NR_prctl, &[62, 1], no), // PR_SCHED_CORE
        (__NR_clone, &[SIGCHLD | u64::from(CLONE_NEWUSER)], no),
        (__NR_clone, &[SIGCHLD | u64::from(CLONE_NEWIPC | CLONE_NEWNS)], no),
        (__NR_clone, &[SIGCHLD | u64::from(CLONE_NEWPID)], no),
        (__NR_clone, &[SIGCHLD | u64::from(CLONE_NEWNET)], no),
        (__NR_clone, &[SIGCHLD | u64::from(CLONE_PARENT)], no),
        (__NR_ioctl, &[0, 0x5401], yes),
        (__NR_ioctl, &[0, 0x5421], yes),
        (__NR_ioctl, &[0, 0x5402], no), // TCSETS
        (__NR_ioctl, &[0, 0x540e], no), // TIOCSCTTY
        (__NR_ioctl, &[0, 0x5410], no), // TIOCSPGRP
        (__NR_ioctl, &[0, 0x5412], no), // TIOCSTI
        (__NR_ioctl, &[0, 0x1_0000_5412], no),
        (__NR_ioctl, &[0, 0x541c], no), // TIOCLINUX
        (__NR_fcntl, &[0, 3], yes),
        (__NR_fcntl, &[0, 1030], yes),
        (__NR_fcntl, &[0, 8], no),    // F_SETOWN
        (__NR_fcntl, &[0, 1024], no), // F_SETLEASE
        (__NR_fcntl, &[0, 1036], no), // F_SET_RW_HINT
        (__NR_openat, &[0, 0, WRITING, 0o755], yes),
        (__NR_openat, &[0, 0, WRITING, 0o4755], no),
        (__NR_openat, &[0, 0, WRITING, 0o2755], no),
        (__NR_openat, &[0, 0, 0o2020_0001, 0o4755], no), // O_TMPFILE
        (__NR_openat, &[0, 0, 0, 0o4755], yes),
        (__NR_mknodat, &[0, 0, 0o10_4755], no),
        (__NR_setsockopt, &[0, 1, 9], yes), // SO_KEEPALIVE
        (__NR_setsockopt, &[0, 1, 7], no),  // SO_SNDBUF
        (__NR_setsockopt, &[0, 1, 60], no), // SO_ZEROCOPY
        (__NR_personality, &[0xffff_ffff], yes),
        (__NR_personality, &[0x0040_0000], no), // READ_IMPLIES_EXEC
        (__NR_setpriority, &[0, 0, 10], yes),
        (__NR_setpriority, &[0, 77, 10], no),
        (__NR_setpriority, &[1, 0, 10], no),
        (__NR_setpriority, &[2, 0, 10], no),
        (__NR_ioprio_set, &[1, 0], yes),
        (__NR_ioprio_set, &[1, 77], no),
        (__NR_ioprio_set, &[2, 0], no),
        (__NR_sched_setaffinity, &[0], yes),
        (__NR_sched_setaffinity, &[77], no),
        (__NR_sched_setscheduler, &[77], no),
        (__NR_sched_setparam, &[77], no),
        (__NR_sched_setattr, &[77], no),
        (__NR_prlimit64, &[0, 7, 1], yes),
        (__NR_prlimit64, &[77, 7, 0], yes),
        (__NR_prlimit64, &[77, 7, 1], no),
        (__NR_read, &[], yes),
    ];
    let filters = filters(Sockets::Pairs, only());
    for (number, given, expected) in cases {
        let mut arguments = [0; 6];
        arguments[..given.len()].copy_from_slice(given);
        assert_eq!(decide(&filters, number, arguments), expected, "{number} {given:x?}");
    }
}

#[test]
fn attributes_are_asked_for_or_refused_or_left_open_with_the_files() {
    let rules = |reads| Rules { reads, write: Vec::new(), sockets: Sockets::Pairs };
    let (all, only) = (rules(Reads::All { but: Vec::new() }), rules(only()));
    let (yes, no, asked) = (Decision::Allowed, Decision::Refused(EPERM), Decision::Asked);
    let cases = [
        (&all, false, true, asked),
        (&only, false, true, asked),
        (&all, false, false, no),
        (&only, false, false, no),
        // Nothing restricts files: they can be changed by any other call, too.
        (&all, true, true, yes),
        (&only, true, false, yes),
    ];
    for (rules, has_files, is_supervised, expected) in cases {
        let filters = Filters::new(rules, has_files, is_supervised).unwrap();
        for number in supervisor::ATTRIBUTES.iter().copied().flatten().copied() {
            let decision = decide(&filters, number, [0; 6]);
            assert_eq!(decision, expected, "{number} {has_files} {is_supervised}");
        }
        let open = decide(&filters, linux::__NR_openat, [0; 6]);
        assert_eq!(open, yes);
    }
}

#[test]
fn sockets_are_those_of_the_rules() {
    use linux::*;
    let (inet, unix, packet) = ([2, 1], [1, 1], [17, 3]);
    let (pair, datagrams) = ([1, 0x8_0001], [1, 2]);
    let cases = [
        (Sockets::All, [true, true, true, true, true]),
        (Sockets::Some(true.into()), [true, false, false, true, false]),
        (Sockets::Pairs, [false, false, false, true, false]),
    ];
    for (sockets, expected) in cases {
        let filters = filters(sockets.clone(), only());
        let is_open = |number: u32, [family, kind]: [u64; 2]| {
            decide(&filters, number, [family, kind, 0, 0, 0, 0]) == Decision::Allowed
        };
        let found = [
            is_open(__NR_socket, inet),
            is_open(__NR_socket, unix),
            is_open(__NR_socket, packet),
            is_open(__NR_socketpair, pair),
            is_open(__NR_socketpair, datagrams),
        ];
        assert_eq!(found, expected, "{sockets:?}");
    }
}
