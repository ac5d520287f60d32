//! The builder of the packed automaton.

use std::collections::VecDeque;

use super::alphabet::{ASK, INSIDE, N_SYMBOLS, ROWS, START, symbols_of};
use super::slots::Slots;
use super::trie::Trie;
use super::{Automaton, LINE, Literal, NONE, Needs, OUT, pack};
use crate::matcher::text::boundary;

/// Down to this depth nodes are placed level by level, further down branch by branch, so that nodes
/// on one path are stored together.
const MAX_LEVELS: u32 = 3;

impl Automaton {
    /// Compiles distinct folded literals that are not empty; `None` if they take too many states.
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
        let order = trie.by_depth();
        let failures = trie.failures(&order);
        let new = |(place, literal): (usize, &&str)| {
            let (len, value) = (literal.len() as u32, needs(place).value);
            Literal { next: NONE, next_each: NONE, len, value }
        };
        let mut literals: Vec<Literal> = literals.iter().enumerate().map(new).collect();
        let outputs = link_outputs(&trie, &order, &failures, &mut literals, needs);
        let failures = trie.useful_failures(&order, failures);
        let mut built = Automaton {
            symbols,
            states: Vec::new(),
            ranks: Vec::new(),
            outputs: Vec::new(),
            literals,
        };
        let (bases, n_slots) = place(&trie)?;
        built.fill(&trie, &bases, n_slots, &failures, &outputs);
        Some(built)
    }

    /// Fills the tables, once each node has its base.
    fn fill(
        &mut self,
        trie: &Trie,
        bases: &[u32],
        n_slots: usize,
        failures: &[u32],
        outputs: &[u32],
    ) {
        let mut slots = vec![0_u32; trie.len()];
        for node in 0..trie.len() as u32 {
            for child in trie.children(node) {
                slots[child as usize] =
                    bases[node as usize] ^ u32::from(trie.labels[child as usize]);
            }
        }
        self.states = vec![pack(bases[0], 0, 0); n_slots];
        // Where the root has no child, it is followed by itself.
        for symbol in 0..=u8::MAX {
            self.states[(bases[0] ^ u32::from(symbol)) as usize] = pack(bases[0], 0, symbol);
        }
        let mut output_of = vec![NONE; n_slots];
        for node in 0..trie.len() {
            // A leaf goes on as the node that it fails to.
            let like = if bases[node] == 0 { failures[node] as usize } else { node };
            let mut state = pack(bases[like], slots[failures[like] as usize], trie.labels[node]);
            if outputs[node] != NONE {
                state |= OUT;
                output_of[slots[node] as usize] = outputs[node];
            }
            self.states[slots[node] as usize] = state;
        }
        for line in output_of.chunks(LINE) {
            self.ranks.push(self.outputs.len() as u32);
            self.outputs.extend(line.iter().filter(|&&output| output != NONE));
        }
    }
}

/// The symbols of a literal.
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

/// Links each literal to those that it ends with; returns the longest literal that each node ends with.
fn link_outputs(
    trie: &Trie,
    order: &[u32],
    failures: &[u32],
    literals: &mut [Literal],
    needs: impl Fn(usize) -> Needs,
) -> Vec<u32> {
    let mut outputs = trie.literals.clone();
    for &node in &order[1..] {
        let shorter = outputs[failures[node as usize] as usize];
        let output = &mut outputs[node as usize];
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

/// The base of each node, 0 for leaves, and the number of slots; `None` if there are too many.
fn place(trie: &Trie) -> Option<(Vec<u32>, usize)> {
    let mut bases = vec![0_u32; trie.len()];
    let mut slots = Slots::new();
    bases[0] = N_SYMBOLS as u32;
    let all: Vec<u8> = (0..=u8::MAX).collect();
    slots.take(N_SYMBOLS, &all);
    let mut labels = Vec::new();
    let mut levels: VecDeque<(u32, u32)> = VecDeque::from([(0, 0)]);
    let mut branch: Vec<u32> = Vec::new();
    while let Some((node, depth)) = levels.pop_front() {
        branch.push(node);
        while let Some(node) = branch.pop() {
            labels.clear();
            labels.extend(trie.children(node).map(|child| trie.labels[child as usize]));
            if node != 0 && !labels.is_empty() {
                bases[node as usize] = slots.take_for(&labels)?;
            }
            if depth < MAX_LEVELS {
                levels.extend(trie.children(node).map(|child| (child, depth + 1)));
            } else {
                let n_before = branch.len();
                branch.extend(trie.children(node));
                branch[n_before..].reverse();
            }
        }
    }
    Some((bases, slots.end().max(2 * N_SYMBOLS)))
}
