//! Builds the packed automaton: a trie of all literals, its failure links, and the placement of its
//! nodes in the slots of the double array.

use std::collections::VecDeque;
use std::ops::Range;

use repertoire_text::boundary;

use super::{
    ASK, Automaton, INSIDE, Literal, MAX_SLOTS, N_SYMBOLS, NONE, Needs, OUT, ROWS, START, pack,
    symbols_of,
};

/// Nodes down to this depth are placed level by level, deeper nodes branch by branch, so that the nodes
/// of one path are stored together.
const MAX_LEVELS: u32 = 3;

impl Automaton {
    /// Compiles folded literals, which must be distinct and not empty. Returns `None` if they take too
    /// many states.
    pub(in crate::matcher) fn new(
        literals: &[&str],
        needs: impl Fn(usize) -> Needs,
    ) -> Option<Automaton> {
        let symbols = symbols_of(literals);
        let mut forms: Vec<(Vec<u8>, u32)> = Vec::with_capacity(literals.len() * 3 / 2);
        for (place, literal) in literals.iter().enumerate() {
            let form = spell(&symbols, literal);
            let inside = symbols[INSIDE | usize::from(*literal.as_bytes().first()?)];
            if inside != form[0] && !needs(place).start {
                let mut inner = form.clone();
                inner[0] = inside;
                forms.push((inner, place as u32));
            }
            forms.push((form, place as u32));
        }
        forms.sort_unstable();
        let trie = Trie::new(&forms);
        drop(forms);
        let failures = trie.failures();
        let new = |literal: &&str| {
            let len = literal.len() as u32;
            Literal { next: NONE, next_each: NONE, len }
        };
        let mut literals: Vec<Literal> = literals.iter().map(new).collect();
        let outputs = link_outputs(&trie, &failures, &mut literals, needs);
        let (states, outputs) = fill(&trie, &failures, &outputs)?;
        Some(Automaton { symbols, states, outputs, literals })
    }
}

/// Returns the states, and the longest literal that ends at each; `None` if there are too many.
fn fill(trie: &Trie, failures: &[u32], outputs: &[u32]) -> Option<(Vec<u64>, Vec<u32>)> {
    let (bases, n_slots) = place(trie)?;
    let mut slots = vec![0_u32; trie.len()];
    for node in 0..trie.len() as u32 {
        for child in trie.children(node) {
            slots[child as usize] = bases[node as usize] ^ u32::from(trie.labels[child as usize]);
        }
    }
    let mut states = vec![pack(bases[0], 0, 0); n_slots];
    // A symbol for which the root has no child leads back to the root.
    for symbol in 0..=u8::MAX {
        states[(bases[0] ^ u32::from(symbol)) as usize] = pack(bases[0], 0, symbol);
    }
    let mut output_of = vec![NONE; n_slots];
    for node in 0..trie.len() {
        // A leaf has no children: it continues as the node that its failure link leads to.
        let like = if bases[node] == 0 { failures[node] as usize } else { node };
        let mut state = pack(bases[like], slots[failures[like] as usize], trie.labels[node]);
        if outputs[node] != NONE {
            state |= OUT;
            output_of[slots[node] as usize] = outputs[node];
        }
        states[slots[node] as usize] = state;
    }
    Some((states, output_of))
}

/// Returns the symbols of a literal.
fn spell(symbols: &[u8], literal: &str) -> Vec<u8> {
    let mut row = START;
    let spelled = literal.bytes().enumerate().map(|(at, byte)| {
        let mut symbol = symbols[row | byte as usize];
        if symbol == ASK {
            row = if boundary::opens(literal, at, at + 1) { START } else { INSIDE };
            symbol = symbols[row | byte as usize];
        }
        row = ROWS[byte as usize] as usize;
        symbol
    });
    spelled.collect()
}

/// Links each literal to the longest literals that it ends with, see [`Literal::next`] and
/// [`Literal::next_each`]. Returns the longest literal that ends at each node.
fn link_outputs(
    trie: &Trie,
    failures: &[u32],
    literals: &mut [Literal],
    needs: impl Fn(usize) -> Needs,
) -> Vec<u32> {
    let mut outputs = trie.literals.clone();
    for node in 1..trie.len() {
        let shorter = outputs[failures[node] as usize];
        let output = &mut outputs[node];
        if *output == NONE {
            *output = shorter;
        } else if shorter != NONE {
            let is_each = needs(shorter as usize).each;
            let next_each = if is_each { shorter } else { literals[shorter as usize].next_each };
            let literal = &mut literals[*output as usize];
            (literal.next, literal.next_each) = (shorter, next_each);
        }
    }
    outputs
}

/// Assigns a base to each node, 0 to leaves. Returns the bases and the number of slots, or `None` if
/// there are too many slots.
fn place(trie: &Trie) -> Option<(Vec<u32>, usize)> {
    let mut bases = vec![0_u32; trie.len()];
    let mut slots = Slots::new();
    bases[0] = N_SYMBOLS as u32;
    let all: Vec<u8> = (0..=u8::MAX).collect();
    slots.take(N_SYMBOLS, &all);
    let mut levels: VecDeque<(u32, u32)> = VecDeque::from([(0, 0)]);
    let mut branch: Vec<u32> = Vec::new();
    while let Some((node, depth)) = levels.pop_front() {
        branch.push(node);
        while let Some(node) = branch.pop() {
            let labels = trie.labels_of(node);
            if node != 0 && !labels.is_empty() {
                bases[node as usize] = slots.take_for(labels)?;
            }
            if depth < MAX_LEVELS {
                levels.extend(trie.children(node).map(|child| (child, depth + 1)));
            } else {
                branch.extend(trie.children(node).rev());
            }
        }
    }
    Some((bases, slots.end.max(2 * N_SYMBOLS)))
}

/// A trie of literals spelled in symbols. Nodes are numbered level by level; the root is 0.
struct Trie {
    /// The first child of each node, and last the number of nodes. The children of a node have
    /// consecutive numbers, in the order of their labels.
    first_child: Vec<u32>,
    /// The symbol that leads to each node.
    labels: Vec<u8>,
    /// The literal that each node spells, or [`NONE`].
    literals: Vec<u32>,
}

impl Trie {
    /// Builds the trie from spelled literals, which must be sorted, each with its number.
    fn new(forms: &[(Vec<u8>, u32)]) -> Trie {
        let mut trie = Trie { first_child: Vec::new(), labels: vec![0], literals: Vec::new() };
        // For each node of a level, the literals that begin with its path.
        let mut level = vec![forms];
        for depth in 0.. {
            let mut next = Vec::new();
            for forms in level {
                let n_spelled = forms.partition_point(|(form, _)| form.len() == depth);
                let (spelled, longer) = forms.split_at(n_spelled);
                trie.literals.push(spelled.last().map_or(NONE, |&(_, literal)| literal));
                trie.first_child.push(trie.labels.len() as u32);
                for alike in longer.chunk_by(|a, b| a.0[depth] == b.0[depth]) {
                    trie.labels.push(alike[0].0[depth]);
                    next.push(alike);
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        trie.first_child.push(trie.labels.len() as u32);
        trie
    }

    /// The number of nodes.
    fn len(&self) -> usize {
        self.labels.len()
    }

    fn children(&self, node: u32) -> Range<u32> {
        self.first_child[node as usize]..self.first_child[node as usize + 1]
    }

    fn labels_of(&self, node: u32) -> &[u8] {
        let children = self.children(node);
        &self.labels[children.start as usize..children.end as usize]
    }

    fn child(&self, node: u32, label: u8) -> Option<u32> {
        let place = self.labels_of(node).binary_search(&label).ok()?;
        Some(self.first_child[node as usize] + place as u32)
    }

    /// The failure link of each node: the node of its longest proper suffix that is a node.
    fn failures(&self) -> Vec<u32> {
        let mut failures = vec![0_u32; self.len()];
        for parent in 1..self.len() as u32 {
            for child in self.children(parent) {
                let mut shorter = failures[parent as usize];
                failures[child as usize] = loop {
                    match self.child(shorter, self.labels[child as usize]) {
                        Some(found) => break found,
                        None if shorter == 0 => break 0,
                        None => shorter = failures[shorter as usize],
                    }
                };
            }
        }
        failures
    }
}

/// The maximum number of slots tried for a node with several children.
const MAX_TRIES: usize = 48;

/// The slots and bases that are taken.
struct Slots {
    /// One bit for each slot; `bases` has one for each base.
    taken: Vec<u64>,
    bases: Vec<u64>,
    /// The first slot to try: none before it is free, or worth a try.
    first: usize,
    /// The first slot to try for a node with several children: none before it is worth a try.
    first_of_many: usize,
    /// The end of the last block that has a slot taken.
    end: usize,
}

fn has(bits: &[u64], at: usize) -> bool {
    bits.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 != 0)
}

fn set(bits: &mut Vec<u64>, at: usize) {
    if bits.len() <= at / 64 {
        bits.resize(at / 64 * 2 + 64, 0);
    }
    bits[at / 64] |= 1 << (at % 64);
}

impl Slots {
    /// All slots free, except the first block, whose first slot is the root's.
    fn new() -> Slots {
        let taken = vec![u64::MAX; N_SYMBOLS / 64];
        let (first, first_of_many, end) = (N_SYMBOLS, N_SYMBOLS, N_SYMBOLS);
        Slots { taken, bases: Vec::new(), first, first_of_many, end }
    }

    /// Takes a base for which the slots of `labels`, at least one, are free; `None` if that takes too many slots.
    fn take_for(&mut self, labels: &[u8]) -> Option<u32> {
        let base = match *labels {
            [label] => self.find_for_one(label),
            _ => self.find_for_many(labels),
        };
        self.take(base, labels);
        (self.end < MAX_SLOTS).then_some(base as u32)
    }

    /// Takes `base`, and its slots for `labels`.
    fn take(&mut self, base: usize, labels: &[u8]) {
        set(&mut self.bases, base);
        for &label in labels {
            let slot = base ^ label as usize;
            set(&mut self.taken, slot);
            self.end = self.end.max((slot | (N_SYMBOLS - 1)) + 1);
        }
    }

    /// Returns a base for a node with one child: almost any free slot will do.
    fn find_for_one(&mut self, label: u8) -> usize {
        self.first = self.free(self.first);
        let mut slot = self.first;
        for n_tried in 0.. {
            let base = slot ^ label as usize;
            if base >= N_SYMBOLS && !has(&self.bases, base) {
                break;
            }
            slot = self.free(slot + 1);
            if n_tried >= MAX_TRIES {
                self.first = slot;
            }
        }
        slot ^ label as usize
    }

    /// Returns a base for a node with several children. Starts where the last one found room; the gaps
    /// left before it are for nodes with one child.
    fn find_for_many(&mut self, labels: &[u8]) -> usize {
        let mut slot = self.free(self.first_of_many);
        for _ in 0..MAX_TRIES {
            let base = slot ^ labels[0] as usize;
            let is_free = |&label: &u8| !has(&self.taken, base ^ label as usize);
            if base >= N_SYMBOLS && !has(&self.bases, base) && labels.iter().all(is_free) {
                self.first_of_many = slot;
                return base;
            }
            slot = self.free(slot + 1);
        }
        self.first_of_many = self.end;
        self.end
    }

    /// The first free slot from `at`.
    fn free(&self, mut at: usize) -> usize {
        loop {
            let Some(bits) = self.taken.get(at / 64) else { return at };
            let free = !bits >> (at % 64);
            if free != 0 {
                return at + free.trailing_zeros() as usize;
            }
            at = (at / 64 + 1) * 64;
        }
    }
}
