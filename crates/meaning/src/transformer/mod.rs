//! A transformer of the BERT family: texts to vectors by attention among their word pieces.
//!
//! Weights are bytes with a scale for each output, activations whole numbers of 15 bits with a scale for each piece
//! (`linear.rs`): cosines differ from those of 32-bit floats by less than 0.01, in a quarter of the memory and time.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined has the instructions of the caller"
)]
#![expect(clippy::cast_precision_loss, reason = "24 bits are more than 15 and a byte need")]

mod attention;
mod functions;
mod linear;
mod network;
mod reader;
mod shape;
mod source;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub(crate) use linear::write_linear;
use network::{Buffers, Network};
pub(crate) use shape::{MAX_PROMPT, Pooling, Shape, TRANSFORMER, write_header};
use source::Source;

use crate::error::{Error, ErrorKind};
use crate::layout::{self, Header, MAX_DIMENSIONS};
use crate::pieces::{PieceScratch, UNKNOWN, pieces};
use crate::table::{Vocabulary, name};
use crate::vector::{Contribution, Vector, bounded, shares, unit};

/// The maximum number of pieces of a text, the two at its ends included. Published models are trained on no more.
pub(crate) const MAX_PIECES: usize = 128;

/// A sentence transformer of the BERT family, such as `MiniLM`, e5-small or bge-small.
///
/// Opening one reads its vocabulary; the network is read when a text first needs it, and of the rows of pieces only
/// those that occur in texts. A text takes milliseconds. A clone shares all of it.
#[derive(Clone)]
pub struct Transformer(Arc<Inner>);

struct Inner {
    /// The file up to its rows.
    head: Vec<u8>,
    header: Header,
    shape: Shape,
    source: Source,
    network: OnceLock<Option<Network>>,
}

/// Prints a summary: the weights are megabytes.
impl fmt::Debug for Transformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transformer")
            .field("name", &self.name())
            .field("shape", &self.0.shape)
            .finish_non_exhaustive()
    }
}

/// The working memory of a text, and the text whose states it holds: the words of one message are asked for
/// once to rank it, and once for each skill to explain it.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// The fingerprint of the transformer, and the side.
    last: Option<(u64, Side)>,
    text: String,
    rows: Vec<u32>,
    buffers: Buffers,
}

/// The side of a search on which a text is; some models tell them apart by a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Query,
    Document,
}

impl Transformer {
    pub(crate) fn open(bytes: Vec<u8>) -> Result<Transformer, Error> {
        Transformer::from_source(Source::memory(bytes))
    }

    pub(crate) fn open_file(path: &Path) -> Result<Transformer, Error> {
        let source = Source::file(path);
        source.and_then(Transformer::from_source).map_err(|error| error.of(path))
    }

    fn from_source(source: Source) -> Result<Transformer, Error> {
        let start = source.read(0, shape::HEADER)?;
        let header = Header::read(&start, source.len(), TRANSFORMER)?;
        let shape = Shape::read(&start, &header)?;
        let head = source.read(0, header.rows_at)?;
        Ok(Transformer(Arc::new(Inner { head, header, shape, source, network: OnceLock::new() })))
    }

    /// Reads the whole file and compares it with its fingerprint.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Damaged`] if a byte is not as it was written, [`ErrorKind::Io`] if the file cannot be read.
    pub fn verify(&self) -> Result<(), Error> {
        if layout::fingerprint(&self.to_bytes()?) == self.fingerprint() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Damaged, "the bytes do not match their fingerprint"))
    }

    /// Reads the file of the transformer.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] if it cannot be read.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.0.source.read(0, self.0.source.len() as usize)
    }

    /// A number that is the same for the same transformer in every process, and differs for others.
    pub fn fingerprint(&self) -> u64 {
        self.0.header.fingerprint
    }

    /// The number of dimensions of a vector: a multiple of 16, at most 512.
    pub fn dimensions(&self) -> usize {
        self.0.header.dimensions
    }

    /// The number of word pieces.
    pub fn pieces(&self) -> usize {
        self.0.header.pieces
    }

    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.0.shape.layers
    }

    /// The name of the transformer, up to 32 bytes.
    pub fn name(&self) -> &str {
        name(&self.0.head)
    }

    /// Returns the vector of the first 128 word pieces of a text; of length 0 if the file can no longer be read or its
    /// numbers are not finite.
    pub(crate) fn vector(
        &self,
        text: &str,
        side: Side,
        cutter: &mut PieceScratch,
        run: &mut Run,
    ) -> Vector {
        let mut values = [0.0; MAX_DIMENSIONS];
        if self.run(text, side, cutter, run).is_some() {
            run.buffers.pool(self.0.shape.pooling, &mut values[..self.dimensions()]);
        }
        if values.iter().any(|value| !value.is_finite()) {
            values = [0.0; MAX_DIMENSIONS];
        }
        Vector::new(&unit(values), self.dimensions())
    }

    /// Returns the words of a query with what each adds to the cosine of its vector and `other`. Pieces at the ends and
    /// those of a prompt add to it, too, and are not told.
    pub(crate) fn contributions(
        &self,
        text: &str,
        other: &Vector,
        cutter: &mut PieceScratch,
        run: &mut Run,
    ) -> Vec<Contribution> {
        let Some(prompt) = self.run(text, Side::Query, cutter, run) else { return Vec::new() };
        let dimensions = self.dimensions();
        let buffers = &run.buffers;
        let mut sum = [0.0; MAX_DIMENSIONS];
        buffers.pool(Pooling::Mean, &mut sum[..dimensions]);
        let vocabulary = Vocabulary::new(&self.0.head, &self.0.header);
        let mut states = buffers.states(dimensions).skip(1 + prompt);
        let n_left = states.len().saturating_sub(1);
        let mut words = Vec::new();
        pieces(vocabulary, bounded(text), cutter, |piece| {
            let Some(state) = states.next().filter(|_| words.len() < n_left) else { return };
            let share = state.iter().zip(other.values()).map(|(a, b)| a * b).sum();
            words.push(Contribution { range: piece.range, share });
        });
        shares(words, &sum)
    }

    /// Runs the network on a text, unless it did so last; returns the number of pieces of the prompt before it.
    /// `None` if the file cannot be read.
    fn run(
        &self,
        text: &str,
        side: Side,
        cutter: &mut PieceScratch,
        run: &mut Run,
    ) -> Option<usize> {
        let Inner { head, header, shape, source, network } = &*self.0;
        let network = network.get_or_init(|| Network::read(source, header, shape).ok());
        let network = network.as_ref()?;
        let Run { last, text: last_text, rows, buffers } = run;
        let text = bounded(text);
        let this = Some((header.fingerprint, side));
        let vocabulary = Vocabulary::new(head, header);
        rows.clear();
        pieces(vocabulary, shape.prompt(side), cutter, |piece| rows.push(piece.row));
        let prompt = rows.len();
        if *last == this && last_text == text {
            return Some(prompt);
        }
        *last = None;
        pieces(vocabulary, text, cutter, |piece| rows.push(piece.row));
        rows.truncate(shape.positions - 2);
        buffers.begin(network);
        for row in &*rows {
            let at = header.rows_at + *row as usize * header.row_bytes();
            let row = (*row != UNKNOWN).then_some((at, header.row_bytes()));
            buffers.push(network, shape, row, source)?;
        }
        buffers.end(network);
        network.run(shape, buffers);
        *last = this;
        last_text.clear();
        last_text.push_str(text);
        Some(prompt)
    }
}
