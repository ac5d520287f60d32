//! The trie of all literals, with failure links, from which the automaton is packed.

use super::{N_SYMBOLS, NONE};

/// A trie of literals spelled in symbols. Nodes are numbered in the order of those; the root is 0.
pub(super) struct Trie {
    first_child: Vec<u32>,
    sibling: Vec<u32>,
    parent: Vec<u32>,
    /// The symbol that leads to each node.
    pub(super) labels: Vec<u8>,
    /// The literal that each node spells, or [`NONE`].
    pub(super) literals: Vec<u32>,
}

impl Trie {
    /// Enters spelled literals, which are sorted, with their numbers.
    pub(super) fn new(forms: &[(Vec<u8>, u32)]) -> Trie {
        let mut trie = Trie {
            first_child: vec![NONE],
            sibling: vec![NONE],
            parent: vec![0],
            labels: vec![0],
            literals: vec![NONE],
        };
        // The nodes of the form before, each with its last child.
        let mut path = vec![(0_u32, NONE)];
        let mut before: &[u8] = &[];
        for (form, literal) in forms {
            let n_same = before.iter().zip(form).take_while(|(a, b)| a == b).count();
            path.truncate(n_same + 1);
            for &label in &form[n_same..] {
                let node = trie.labels.len() as u32;
                let Some((parent, last_child)) = path.last_mut() else { break };
                match *last_child {
                    NONE => trie.first_child[*parent as usize] = node,
                    older => trie.sibling[older as usize] = node,
                }
                trie.parent.push(*parent);
                *last_child = node;
                trie.first_child.push(NONE);
                trie.sibling.push(NONE);
                trie.labels.push(label);
                trie.literals.push(NONE);
                path.push((node, NONE));
            }
            if let Some((node, _)) = path.last() {
                trie.literals[*node as usize] = *literal;
            }
            before = form;
        }
        trie
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    pub(super) fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        let mut next = self.first_child[node as usize];
        std::iter::from_fn(move || {
            let child = (next != NONE).then_some(next)?;
            next = self.sibling[child as usize];
            Some(child)
        })
    }

    fn child(&self, node: u32, label: u8) -> Option<u32> {
        // Children are in the order of their labels.
        let mut later = self.children(node).skip_while(|&of| self.labels[of as usize] < label);
        later.next().filter(|&of| self.labels[of as usize] == label)
    }

    /// The nodes by their depth, the root first.
    pub(super) fn by_depth(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.len());
        order.push(0);
        let mut at = 0;
        while at < order.len() {
            order.extend(self.children(order[at]));
            at += 1;
        }
        order
    }

    /// The failure link of each node: the node of its longest proper suffix that is a node.
    pub(super) fn failures(&self, order: &[u32]) -> Vec<u32> {
        let mut of_root = [0; N_SYMBOLS];
        for child in self.children(0) {
            of_root[self.labels[child as usize] as usize] = child;
        }
        let mut failures = vec![0_u32; self.len()];
        for &node in &order[1..] {
            let (parent, label) = (self.parent[node as usize], self.labels[node as usize]);
            if parent == 0 {
                continue;
            }
            let mut shorter = failures[parent as usize];
            failures[node as usize] = loop {
                if shorter == 0 {
                    break of_root[label as usize];
                }
                if let Some(found) = self.child(shorter, label) {
                    break found;
                }
                shorter = failures[shorter as usize];
            };
        }
        failures
    }

    /// The same without links to nodes all of whose children the node itself has: a byte that is not among
    /// its own is not among theirs.
    pub(super) fn useful_failures(&self, order: &[u32], mut failures: Vec<u32>) -> Vec<u32> {
        for &node in &order[1..] {
            let has_all = |of: u32| {
                self.children(of)
                    .all(|child| self.child(node, self.labels[child as usize]).is_some())
            };
            let mut shorter = failures[node as usize];
            while shorter != 0 && has_all(shorter) {
                shorter = failures[shorter as usize];
            }
            failures[node as usize] = shorter;
        }
        failures
    }
}
