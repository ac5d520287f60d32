//! The scripts that the server runs. Each is one atomic step for all other clients.

use std::collections::BTreeMap;

use ::redis::{Connection, RedisResult, Script};

use super::{BEGUN, SESSION, TALLY, TRAIL, TRAILS, VERSION, VERSION_KEY};
use crate::server::key;
use repertoire::session::{KeptMessage, Tallies};

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

/// Appends lines to a trail, and deletes the oldest lines and the oldest trails beyond the limits.
///
/// Keys: trail, version, index of trails, prefix of trails. Arguments: the session in the index, the
/// seconds to keep the trail, the version, the largest numbers of lines and of trails, and the lines.
const EXTEND: &str = "
    local version = redis.call('GET', KEYS[2])
    if version and version ~= ARGV[3] then return 'version ' .. version end
    local time = redis.call('TIME')
    redis.call('LLEN', KEYS[1])
    redis.call('ZCARD', KEYS[3])
    for i = 6, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
    redis.call('LTRIM', KEYS[1], -tonumber(ARGV[4]), -1)
    redis.call('EXPIRE', KEYS[1], ARGV[2])
    redis.call('ZADD', KEYS[3], string.format('%d', time[1] * 1000000 + time[2]), ARGV[1])
    for _, old in ipairs(redis.call('ZRANGE', KEYS[3], 0, -tonumber(ARGV[5]) - 1)) do
        redis.call('DEL', KEYS[4] .. old)
        redis.call('ZREM', KEYS[3], old)
    end
    if not version then redis.call('SET', KEYS[2], ARGV[3]) end
    return 'done'
";

/// Forgets a session. Keys: session, version, trail, index of trails. Arguments: the version, the session
/// in the index.
const END: &str = "
    local version = redis.call('GET', KEYS[2])
    if version and version ~= ARGV[1] then return 'version ' .. version end
    redis.call('DEL', KEYS[1], KEYS[3])
    redis.call('ZREM', KEYS[4], ARGV[2])
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
    extend: Script,
    end: Script,
}

impl Scripts {
    pub(super) fn new() -> Scripts {
        Scripts { write: Script::new(WRITE), extend: Script::new(EXTEND), end: Script::new(END) }
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

    /// Appends `lines` to the trail of `session`.
    pub(super) fn extend(
        &self,
        connection: &mut Connection,
        session: &str,
        lines: &[String],
        keeps: i32,
    ) -> RedisResult<Written> {
        let id = key(session);
        let mut call = self.extend.key(format!("{TRAIL}{id}"));
        call.key(VERSION_KEY).key(TRAILS).key(TRAIL).arg(&*id).arg(keeps).arg(VERSION);
        call.arg(KeptMessage::MAX_LINES).arg(KeptMessage::MAX_SESSIONS).arg(lines);
        call.invoke(connection).map(|answer: String| written(&answer))
    }

    /// Forgets `session`.
    pub(super) fn end(&self, connection: &mut Connection, session: &str) -> RedisResult<Written> {
        let id = key(session);
        let mut call = self.end.key(format!("{SESSION}{id}"));
        call.key(VERSION_KEY).key(format!("{TRAIL}{id}")).key(TRAILS).arg(VERSION).arg(&*id);
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
