//! What was seen, as one process leaves it to others: so that it can be compared with the world as
//! it lies in the file, which is all that becomes of it where nothing has changed.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};

use super::{Environment, Seen, Stamp, Surroundings, in_parts, tell_changed};
use crate::catalog::stamp::PLAIN_LEN;

/// Where a path ends among all paths, and its stamp.
const ROW_LEN: usize = size_of::<u32>() + PLAIN_LEN;

/// [`Seen`] in as few pieces as there can be.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct KeptSeen<'a> {
    /// The paths with a plain stamp, one behind the other, in their order.
    #[serde(borrow)]
    paths: Cow<'a, str>,
    /// A row for each of them.
    #[serde(borrow)]
    rows: Cow<'a, [u8]>,
    /// All other paths: links, and what was not there.
    others: Vec<(PathBuf, Stamp)>,
    around: Cow<'a, Surroundings>,
}

impl KeptSeen<'_> {
    /// As [`Seen::is_current`].
    pub(crate) fn is_current(&self, environment: &Environment) -> bool {
        let is_changed = |place: &usize| !self.is_plain(*place);
        let changed = in_parts(self.n_plain(), |mut part| part.find(is_changed));
        let changed = changed.and_then(|place| Some(self.plain(place)?.0)).or_else(|| {
            let other = self.others.iter().find(|(path, stamp)| !stamp.is_current(path));
            other.map(|(path, _)| &**path)
        });
        changed.inspect(|path| tell_changed(path)).is_none() && self.around.is_current(environment)
    }

    fn n_plain(&self) -> usize {
        self.rows.len() / ROW_LEN
    }

    /// A path with a plain stamp, and the stamp.
    fn plain(&self, place: usize) -> Option<(&Path, &[u8; PLAIN_LEN])> {
        let row = |place: usize| {
            let row = self.rows.get(place * ROW_LEN..)?.get(..ROW_LEN)?;
            let (end, stamp) = row.split_first_chunk()?;
            Some((u32::from_le_bytes(*end) as usize, stamp.first_chunk()?))
        };
        let start = match place.checked_sub(1) {
            Some(before) => row(before)?.0,
            None => 0,
        };
        let (end, stamp) = row(place)?;
        Some((Path::new(self.paths.get(start..end)?), stamp))
    }

    /// Whether the path at `place` is as its row says.
    fn is_plain(&self, place: usize) -> bool {
        let Some((path, stamp)) = self.plain(place) else { return false };
        Stamp::take(path, SystemTime::UNIX_EPOCH).plain().as_ref() == Some(stamp)
    }
}

impl<'a> TryFrom<&'a Seen> for KeptSeen<'a> {
    type Error = &'static str;

    fn try_from(seen: &'a Seen) -> Result<Self, Self::Error> {
        let Seen { start: _, stamps, around } = seen;
        let (mut paths, mut rows, mut others) = (String::new(), Vec::new(), Vec::new());
        for (path, stamp) in stamps {
            match stamp.plain().filter(|_| stamp.is_settled()) {
                Some(plain) => {
                    paths.push_str(path.to_str().ok_or("a path that is not Unicode")?);
                    let end = u32::try_from(paths.len()).map_err(|_| "paths of 4 GB")?;
                    rows.extend_from_slice(&end.to_le_bytes());
                    rows.extend_from_slice(&plain);
                }
                None => others.push((path.clone(), stamp.clone())),
            }
        }
        let around = Cow::Borrowed(around);
        Ok(KeptSeen { paths: paths.into(), rows: rows.into(), others, around })
    }
}

impl From<KeptSeen<'_>> for Seen {
    fn from(kept: KeptSeen<'_>) -> Seen {
        let plain = (0..kept.n_plain()).filter_map(|place| kept.plain(place));
        let plain = plain.map(|(path, stamp)| (path.to_owned(), Stamp::of_plain(stamp)));
        let stamps = plain.chain(kept.others.iter().cloned()).collect();
        // What was written down is only compared, never added to.
        Seen { start: SystemTime::now(), stamps, around: kept.around.into_owned() }
    }
}

impl Serialize for Seen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        KeptSeen::try_from(self).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Seen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Seen, D::Error> {
        KeptSeen::deserialize(deserializer).map(Seen::from)
    }
}
