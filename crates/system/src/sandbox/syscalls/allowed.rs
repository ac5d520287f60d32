//! The system calls that exist in the sandbox, by what programs need them for. Everything that is not
//! listed here is refused, and so is what later kernels add.
//!
//! The starting point is the list of calls that container runtimes allow. It is shorter here: a script
//! or a toolset installs nothing, debugs nothing and manages no machine. Not on the list, with the
//! reason:
//! - System V and POSIX IPC (`shmget`, `msgget`, `semget`, `mq_open` …): it reaches segments and queues
//!   of the user's other programs by number, and what is made stays after its maker has ended.
//! - Other processes: `ptrace`, `process_vm_readv`, `pidfd_getfd`, `kcmp`, `process_madvise`.
//! - The process group and the session, which end as a whole: `setsid`, `setpgid`.
//! - Namespaces, mounts and root directories: `unshare`, `setns`, `mount`, `chroot`, and `clone3`, whose
//!   flags are in memory that a filter cannot read.
//! - Memory that no limit counts, and rings: `memfd_create`, `memfd_secret`, `io_uring_setup`,
//!   `io_setup`, `userfaultfd`; `splice`, `vmsplice`, `tee` and `sendfile`, which keep pages in pipes and sockets: a
//!   page of 2 MiB stays for each 4 KiB of it that is there.
//! - The whole machine: modules, `reboot`, clocks, swap, `sync`, quotas, accounting, `bpf`,
//!   `perf_event_open`, keyrings.
//! - `openat2`, whose mode is in memory that a filter cannot read: programs do without, as on older kernels.
//! - File handles, which open files without a path: `open_by_handle_at`, `name_to_handle_at`.
//! - Watching files (`inotify_init`, `fanotify_init`): it tells when others use them, and a user has few watches.

/// Calls on open files.
const DESCRIPTORS: &[u32] = numbers![
    __NR_close, __NR_close_range, __NR_copy_file_range, __NR_dup, __NR_dup3, __NR_fadvise64,
    __NR_fallocate, __NR_fchdir, __NR_fchmod, __NR_fchown, __NR_fcntl, __NR_fdatasync,
    __NR_fgetxattr, __NR_flistxattr, __NR_flock, __NR_fremovexattr, __NR_fsetxattr, __NR_fstat,
    __NR_fstatfs, __NR_fsync, __NR_ftruncate, __NR_getdents64, __NR_ioctl, __NR_lseek, __NR_pipe2,
    __NR_pread64, __NR_preadv, __NR_preadv2, __NR_pwrite64, __NR_pwritev, __NR_pwritev2, __NR_read,
    __NR_readahead, __NR_readv, __NR_sync_file_range, __NR_write, __NR_writev,
];

/// Calls on files by their path. Landlock decides which of them can be opened and changed, and the supervisor of
/// which the attributes.
const PATHS: &[u32] = numbers![
    __NR_chdir, __NR_faccessat, __NR_faccessat2, __NR_fchmodat, __NR_fchmodat2, __NR_fchownat,
    __NR_getcwd, __NR_getxattr, __NR_lgetxattr, __NR_linkat, __NR_listxattr, __NR_llistxattr,
    __NR_lremovexattr, __NR_lsetxattr, __NR_mkdirat, __NR_mknodat, __NR_newfstatat, __NR_openat,
    __NR_readlinkat, __NR_removexattr, __NR_renameat2, __NR_setxattr, __NR_statfs, __NR_statx,
    __NR_symlinkat, __NR_truncate, __NR_umask, __NR_unlinkat, __NR_utimensat,
];

/// The memory of the process itself.
const MEMORY: &[u32] = numbers![
    __NR_brk, __NR_get_mempolicy, __NR_madvise, __NR_map_shadow_stack, __NR_membarrier,
    __NR_mincore, __NR_mlock, __NR_mlock2, __NR_mlockall, __NR_mmap, __NR_mprotect, __NR_mremap,
    __NR_mseal, __NR_msync, __NR_munlock, __NR_munlockall, __NR_munmap, __NR_pkey_alloc,
    __NR_pkey_free, __NR_pkey_mprotect,
];

/// Threads, programs that the process starts, and their signals. Arguments of `clone` and of the calls
/// on priorities are checked by the other filter.
const PROCESSES: &[u32] = numbers![
    __NR_clone,
    __NR_execve,
    __NR_execveat,
    __NR_exit,
    __NR_exit_group,
    __NR_futex,
    __NR_futex_requeue,
    __NR_futex_wait,
    __NR_futex_waitv,
    __NR_futex_wake,
    __NR_get_robust_list,
    __NR_getcpu,
    __NR_getpgid,
    __NR_getpid,
    __NR_getppid,
    __NR_getpriority,
    __NR_getrusage,
    __NR_getsid,
    __NR_gettid,
    __NR_ioprio_get,
    __NR_ioprio_set,
    __NR_kill,
    __NR_personality,
    __NR_pidfd_open,
    __NR_pidfd_send_signal,
    __NR_prctl,
    __NR_prlimit64,
    __NR_restart_syscall,
    __NR_rseq,
    __NR_rt_sigaction,
    __NR_rt_sigpending,
    __NR_rt_sigprocmask,
    __NR_rt_sigqueueinfo,
    __NR_rt_sigreturn,
    __NR_rt_sigsuspend,
    __NR_rt_sigtimedwait,
    __NR_rt_tgsigqueueinfo,
    __NR_sched_get_priority_max,
    __NR_sched_get_priority_min,
    __NR_sched_getaffinity,
    __NR_sched_getattr,
    __NR_sched_getparam,
    __NR_sched_getscheduler,
    __NR_sched_rr_get_interval,
    __NR_sched_setaffinity,
    __NR_sched_setattr,
    __NR_sched_setparam,
    __NR_sched_setscheduler,
    __NR_sched_yield,
    __NR_set_robust_list,
    __NR_set_tid_address,
    __NR_setpriority,
    __NR_sigaltstack,
    __NR_signalfd4,
    __NR_tgkill,
    __NR_tkill,
    __NR_wait4,
    __NR_waitid,
];

/// Users, groups and capabilities: programs ask for theirs, and give them up. There are none to gain.
const USERS: &[u32] = numbers![
    __NR_capget, __NR_capset, __NR_getegid, __NR_geteuid, __NR_getgid, __NR_getgroups,
    __NR_getresgid, __NR_getresuid, __NR_getuid, __NR_setfsgid, __NR_setfsuid, __NR_setgid,
    __NR_setgroups, __NR_setregid, __NR_setresgid, __NR_setresuid, __NR_setreuid, __NR_setuid,
];

/// Time and timers.
const TIME: &[u32] = numbers![
    __NR_clock_getres, __NR_clock_gettime, __NR_clock_nanosleep, __NR_getitimer, __NR_gettimeofday,
    __NR_nanosleep, __NR_setitimer, __NR_timer_create, __NR_timer_delete, __NR_timer_getoverrun,
    __NR_timer_gettime, __NR_timer_settime, __NR_timerfd_create, __NR_timerfd_gettime,
    __NR_timerfd_settime, __NR_times,
];

/// Waiting for events.
const WAITING: &[u32] = numbers![
    __NR_epoll_create1, __NR_epoll_ctl, __NR_epoll_pwait, __NR_epoll_pwait2, __NR_eventfd2,
    __NR_ppoll, __NR_pselect6,
];

/// Sockets. The other filter refuses the kinds that are not allowed.
const SOCKETS: &[u32] = numbers![
    __NR_accept, __NR_accept4, __NR_bind, __NR_connect, __NR_getpeername, __NR_getsockname,
    __NR_getsockopt, __NR_listen, __NR_recvfrom, __NR_recvmmsg, __NR_recvmsg, __NR_sendmmsg,
    __NR_sendmsg, __NR_sendto, __NR_setsockopt, __NR_shutdown, __NR_socket, __NR_socketpair,
];

/// Facts about the system, and further restrictions of the process itself.
const SYSTEM: &[u32] = numbers![
    __NR_getrandom,
    __NR_landlock_add_rule,
    __NR_landlock_create_ruleset,
    __NR_landlock_restrict_self,
    __NR_seccomp,
    __NR_sysinfo,
    __NR_uname,
];

/// Older forms of the calls above. Newer architectures do not have them.
#[cfg(target_arch = "x86_64")]
const OLDER: &[u32] = numbers![
    __NR_access, __NR_alarm, __NR_arch_prctl, __NR_chmod, __NR_chown, __NR_creat, __NR_dup2,
    __NR_epoll_create, __NR_epoll_wait, __NR_eventfd, __NR_fork, __NR_futimesat, __NR_getdents,
    __NR_getpgrp, __NR_getrlimit, __NR_lchown, __NR_link, __NR_lstat, __NR_mkdir, __NR_mknod,
    __NR_open, __NR_pause, __NR_pipe, __NR_poll, __NR_readlink, __NR_rename, __NR_renameat,
    __NR_rmdir, __NR_select, __NR_setrlimit, __NR_signalfd, __NR_stat, __NR_symlink, __NR_time,
    __NR_unlink, __NR_utime, __NR_utimes, __NR_vfork,
];
#[cfg(target_arch = "aarch64")]
const OLDER: &[u32] = numbers![__NR_getrlimit, __NR_renameat, __NR_setrlimit];
#[cfg(target_arch = "riscv64")]
const OLDER: &[u32] = numbers![__NR_riscv_flush_icache, __NR_riscv_hwprobe];

/// Returns the numbers of all calls that exist in the sandbox.
pub(super) fn all() -> impl Iterator<Item = u32> {
    let groups =
        [DESCRIPTORS, PATHS, MEMORY, PROCESSES, USERS, TIME, WAITING, SOCKETS, SYSTEM, OLDER];
    groups.into_iter().flatten().copied()
}
