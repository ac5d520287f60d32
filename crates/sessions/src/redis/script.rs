//! The scripts that the server runs. Each is one atomic step for all other clients.

use std::collections::BTreeMap;

use ::redis::{Connection, RedisResult, Script};

use super::{BEGUN, SESSION, TALLY, VERSION, VERSION_KEY};
use crate::server::key;
use repertoire::session::Tallies;

/// Writes a session if it still is what was read. Every command that may fail runs before the first
/// write, because the server does not undo writes.
///
/// Keys: session, version, prefix of tallies. Arguments: the record that was read (empty for none),
/// the new one, the seconds to keep it, the version, the seconds to keep tallies, the field of
/// sessions that begin, and pairs of a field and a number.
const WRITE: &str = "
    local version = redis.call('GET', KEYS[2])
    if version and version ~= ARGV[4] then return 'version ' .. version end
    local known = redis.call('GET', KEYS[1]) or ''
    if known ~= ARGV[1] then return 'changed' end
    local day = math.floor(tonumber(redis.call('TIME')[1]) / 86400)
    local tally = KEYS[3] .. string.format('%d', day)
    redis.call('HLEN', tally)
    redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
    if not version then redis.call('SET', KEYS[2], ARGV[4]) end
    if known == '' then redis.call('HINCRBY', tally, ARGV[6], 1) end
    for i = 7, #ARGV, 2 do redis.call('HINCRBY', tally, ARGV[i], ARGV[i + 1]) end
    redis.call('EXPIRE', tally, ARGV[5])
    return 'done'
";

/// Forgets a session. Keys: session, version. Argument: the version.
const END: &str = "
    local version = redis.call('GET', KEYS[2])
    if version and version ~= ARGV[1] then return 'version ' .. version end
    redis.call('DEL', KEYS[1])
    return 'done'
";

/// The result of a script.
#[derive(Debug)]
pub(super) enum Written {
    Done,
    /// The session is not what was read: another client wrote it.
    Changed,
    /// The stored data has another version, which is given.
    Version(String),
}

pub(super) struct Scripts {
    write: Script,
    end: Script,
}

impl Scripts {
    pub(super) fn new() -> Scripts {
        Scripts { write: Script::new(WRITE), end: Script::new(END) }
    }

    /// Writes `record` in place of `known`, and adds `counts` to the tallies of the day.
    pub(super) fn write(
        &self,
        connection: &mut Connection,
        session: &str,
        known: Option<&str>,
        record: &str,
        keeps: i32,
        counts: &BTreeMap<String, u64>,
    ) -> RedisResult<Written> {
        let mut call = self.write.key(format!("{SESSION}{}", key(session)));
        call.key(VERSION_KEY).key(TALLY);
        call.arg(known.unwrap_or_default()).arg(record).arg(keeps).arg(VERSION);
        call.arg(u64::from(Tallies::KEPT_DAYS + 1) * 24 * 60 * 60).arg(BEGUN);
        for (field, n) in counts {
            call.arg(field).arg(*n);
        }
        call.invoke(connection).map(|answer: String| written(&answer))
    }

    /// Forgets `session`.
    pub(super) fn end(&self, connection: &mut Connection, session: &str) -> RedisResult<Written> {
        let mut call = self.end.key(format!("{SESSION}{}", key(session)));
        call.key(VERSION_KEY).arg(VERSION);
        call.invoke(connection).map(|answer: String| written(&answer))
    }
}

fn written(answer: &str) -> Written {
    match answer.strip_prefix("version ") {
        Some(version) => Written::Version(version.to_owned()),
        None if answer == "done" => Written::Done,
        None => Written::Changed,
    }
}
