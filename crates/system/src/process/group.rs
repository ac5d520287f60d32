//! The group of a process that runs code of skills: counted, signalled and ended as a whole.
//!
//! The process is the first of its group and of its session, so the group has its number. Until it is
//! reaped, no other group can get that number.

use std::process::Child;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The group of a child that [`super::session`] started.
#[derive(Debug, Clone, Copy)]
pub struct Group(Pid);

impl Group {
    /// The group of a child; `None` if the system gave it no number.
    pub fn of(child: &Child) -> Option<Group> {
        Pid::from_raw(child.id().cast_signed()).map(Group)
    }

    /// The number of the group, and of its first process.
    pub fn id(self) -> Pid {
        self.0
    }

    /// Sends a signal to the whole group. Must not be called after the first process was reaped.
    pub fn signal(self, signal: Signal) {
        let _ = kill_process_group(self.0, signal);
    }

    /// Tells whether the first process has ended. It is not reaped, so its number stays taken.
    pub fn has_exited(self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.0), options), Ok(None))
    }

    /// Returns the members of the group, those included that only wait to be reaped.
    #[cfg(target_os = "linux")]
    pub fn members(self) -> Vec<Member> {
        let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
        let group = self.0.as_raw_nonzero().get();
        let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        numbers.filter_map(Member::of).filter(|member| member.group == group).collect()
    }

    /// Returns nothing: other systems have no such list.
    #[cfg(not(target_os = "linux"))]
    pub fn members(self) -> Vec<Member> {
        Vec::new()
    }

    /// Tells whether a process of the group is alive.
    pub fn is_alive(self) -> bool {
        self.members().iter().any(Member::is_alive)
    }

    /// Reaps processes whose parents have ended, if this program has inherited them: it is the first
    /// process of its container, or a subreaper. Nothing else reaps them.
    pub fn reap_adopted(self) {
        let own = std::process::id();
        for member in self.members() {
            if member.parent == own && member.pid != self.0 {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
                let _ = waitid(WaitId::Pid(member.pid), options);
            }
        }
    }
}

/// A member of a group, from its `stat` file; see proc(5).
#[derive(Debug, PartialEq, Eq)]
pub struct Member {
    /// The process.
    pub pid: Pid,
    state: u8,
    parent: u32,
    group: i32,
    /// The time of its start, in ticks since the machine started.
    pub started: u64,
    /// Bytes of its address space.
    pub virtual_bytes: u64,
    /// Pages of memory, those included that it shares with others.
    pub resident_pages: u64,
    /// The number of its threads, those included that have ended and are not reaped.
    pub threads: u64,
    /// A thread that is alive, whose files in `/proc` tell of the process: those of a first thread that has ended are
    /// empty.
    pub speaker: Pid,
}

impl Member {
    /// Reads the process with this number; `None` if it is gone.
    #[cfg(target_os = "linux")]
    pub fn of(number: i32) -> Option<Member> {
        let stat = std::fs::read(format!("/proc/{number}/stat")).ok()?;
        let member = Member::read(Pid::from_raw(number)?, &stat)?;
        if !member.has_ended() || member.threads < 2 {
            return Some(member);
        }
        // The first thread has ended, others may go on.
        Some(Member::by_another_thread(&member).unwrap_or(member))
    }

    /// Reads a process from the files of a thread that is alive; `None` if there is none.
    #[cfg(target_os = "linux")]
    fn by_another_thread(first: &Member) -> Option<Member> {
        let tasks = format!("/proc/{}/task", first.pid.as_raw_nonzero());
        let threads = std::fs::read_dir(&tasks).ok()?;
        let numbers = threads.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        numbers.filter_map(Pid::from_raw).find_map(|speaker| {
            let stat = format!("{tasks}/{}/stat", speaker.as_raw_nonzero());
            let thread = Member::read(first.pid, &std::fs::read(stat).ok()?)?;
            let member = Member { speaker, started: first.started, ..thread };
            (!member.has_ended()).then_some(member)
        })
    }

    /// Parses a `stat` file. The name before the fields is in parentheses, and may contain any
    /// character.
    #[cfg(target_os = "linux")]
    fn read(pid: Pid, stat: &[u8]) -> Option<Member> {
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let fields = std::str::from_utf8(&stat[after_name..]).ok()?;
        // The first of them is the third field of the file.
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        Some(Member {
            pid,
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            threads: fields.get(17)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
            virtual_bytes: fields.get(20)?.parse().ok()?,
            resident_pages: fields.get(21)?.parse().ok()?,
            speaker: pid,
        })
    }

    /// Tells whether the process can still do anything: one of its threads is not dead or a zombie.
    pub fn is_alive(&self) -> bool {
        !self.has_ended()
    }

    fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_name_does_not_disguise_a_process() {
        let rest = "0 -1 4194304 98 0 0 0 0 0 0 0 20 0 1 0 77 8192 55 184467";
        let pid = Pid::from_raw(7).unwrap();
        for (name, expected) in [
            ("7 (sh) S 1 42 3", Some((b'S', 1, 42))),
            ("7 (a) Z 1 9 (b c) R 2 43 3", Some((b'R', 2, 43))),
        ] {
            let member = Member::read(pid, format!("{name} {rest}").as_bytes());
            let expected = expected.map(|(state, parent, group)| Member {
                pid,
                state,
                parent,
                group,
                started: 77,
                virtual_bytes: 8192,
                resident_pages: 55,
                threads: 1,
                speaker: pid,
            });
            assert_eq!(member, expected);
        }
        for short in ["7 (sh) S 1", ""] {
            assert_eq!(Member::read(pid, short.as_bytes()), None);
        }
    }

    #[test]
    fn the_fields_are_those_of_the_system() {
        let own = Member::of(std::process::id().cast_signed()).unwrap();
        assert!(own.is_alive() && own.resident_pages > 100, "{own:?}");
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
        assert_eq!(own.parent, parent.unsigned_abs());
    }
}
