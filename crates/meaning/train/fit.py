"""The rows of the table: fit.py SENTENCES VOCABULARY TEACHERS OUT NAME.

1. A piece starts as its teachers' vectors of the piece alone, shorter the more frequent it is.
2. A ridge solve brings the mean rows of sentences near their teachers' vectors. A target is both teachers' vectors, one
   after the other, so that a cosine is the mean of theirs. MiniLM is asked about English only: a translation takes its
   original's vector, other sentences a linear map of e5's.
3. Gradient steps make the cosine with the targets larger, and tell the translation of a sentence, or another sentence
   of the same document, from those of others (InfoNCE over a batch, both ways).
4. The rows are turned so that leading dimensions tell most, cut to DIMENSIONS, and written with 4 bits a value."""
import json
import random
import sys
import time

import numpy as np
import scipy.sparse as sp

from table import COST, FOLD_CASE, WORDS, is_marked, is_unspaced, split_words, write

SEED = 1
FULL, DIMENSIONS = 256, 240
RIDGE, ROUNDS = 0.3, 12
FREQUENT = 1e-3  # a piece of this probability has half its length
EPOCHS, BATCH, RATE = 3, 1024, 0.02
NEARNESS, TEMPERATURE = 0.3, 0.07  # the weight of step 3's second half, and how sharp it is
UNKNOWN = 20.0  # the cost of a character without a piece, in nats
START = time.time()


def log(*parts):
    print(*parts, f"[{time.time() - START:.0f} s]", flush=True)


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)


# ---- texts as pieces -----------------------------------------------------------------------------

class Tokenizer:
    """The pieces of texts; each word is cut once."""

    def __init__(self, pieces):
        self.costs = {(p, bool(f)): (round(c * COST), row) for row, (p, f, c) in enumerate(pieces)}
        self.longest = max(len(p) for p, _, _ in pieces)
        self.known = {}

    def rows(self, text):
        words = (w for w in split_words(text[:2000]) if len(w) <= 64 or is_unspaced(w[0]))
        return [row for word in words for row in self.word(word)]

    def word(self, word):
        if word not in self.known:
            best = [(0, 0, None)] + [None] * len(word)
            for start in range(len(word)):
                cost = best[start][0] + round(UNKNOWN * COST)
                if best[start + 1] is None or cost < best[start + 1][0]:
                    best[start + 1] = (cost, start, None)
                for end in range(start + 1, min(len(word), start + self.longest) + 1):
                    found = self.costs.get((word[start:end], is_marked(word[start:end], start == 0)))
                    if found and (best[end] is None or best[start][0] + found[0] < best[end][0]):
                        best[end] = (best[start][0] + found[0], start, found[1])
            rows, at = [], len(word)
            while at:
                _, at, row = best[at]
                rows += [] if row is None else [row]
            self.known[word] = rows[::-1]
        return self.known[word]

    def bags(self, texts):
        """A sparse matrix: for each text the mean of its pieces."""
        rows = [self.rows(text) for text in texts]
        sizes = np.array([len(r) for r in rows])
        values = np.repeat(1 / np.maximum(sizes, 1), sizes).astype(np.float32)
        indices = np.concatenate([np.array(r, np.int32) for r in rows])
        return sp.csr_matrix((values, indices, np.concatenate([[0], np.cumsum(sizes)])), (len(texts), len(self.costs)))


# ---- targets -------------------------------------------------------------------------------------

class Teachers:
    """The teachers' vectors, and linear maps from one to the other."""

    def __init__(self, directory):
        def load(name):
            file = np.load(f"{directory}/{name}.npz", allow_pickle=True)
            return dict(zip(file["texts"], file["vectors"].astype(np.float32)))
        self.minilm, self.e5 = load("minilm"), load("e5")
        both = [text for text in self.minilm if text in self.e5]
        m, e = np.stack([self.minilm[t] for t in both]), np.stack([self.e5[t] for t in both])
        self.m_mean, self.e_mean = m.mean(0), e.mean(0)
        self.e5 = dict(zip(self.e5, unit(np.stack(list(self.e5.values())) - self.e_mean)))
        m, e = m - self.m_mean, unit(e - self.e_mean)
        self.to_minilm, self.to_e5 = ridge_map(e, m), ridge_map(m, e)
        self.pieces_minilm, self.pieces_e5 = load("pieces-minilm"), load("pieces-e5")

    def english(self, text):
        m = self.minilm[text]
        e = self.e5.get(text)
        return np.concatenate([m, unit(((m - self.m_mean) @ self.to_e5)[None])[0] if e is None else e])

    def translation(self, text, original):
        """The target of a sentence in another language; none if no teacher knows it or its original."""
        e, known = self.e5.get(text), original in self.minilm
        if e is None:
            return self.english(original) if known else None
        m = self.minilm[original] if known else e @ self.to_minilm + self.m_mean
        own = np.concatenate([m, e])
        return (own + self.english(original)) / 2 if known else own

    def pieces(self, texts):
        e = np.stack([self.pieces_e5[t] for t in texts])
        e = unit(e - np.stack(list(self.pieces_e5.values())).mean(0))
        mean = np.stack(list(self.pieces_minilm.values())).mean(0)
        m = np.stack([self.pieces_minilm[t] - mean if t in self.pieces_minilm else v @ self.to_minilm
                      for t, v in zip(texts, e)])
        return np.hstack([m, e])


def ridge_map(x, y, weight=30):
    return np.linalg.solve(x.T @ x + weight * np.eye(x.shape[1]), x.T @ y).astype(np.float32)


def read(sentences, known):
    """Texts with their targets, English ones first, and pairs: (text, text, whether they are of one document)."""
    texts = list(known.minilm)
    targets = [known.english(text) for text in texts]
    n_english, pairs, documents = len(texts), [], {}
    for line in open(sentences, encoding="utf8"):
        row = json.loads(line)
        if row["lang"] == "en":
            if row["document"] is not None:
                documents.setdefault(row["document"], []).append((row["number"], row["text"]))
        elif row["lang"] != "other":
            if row["en"]:
                pairs.append((row["text"], row["en"], False))
            target = known.translation(row["text"], row["en"])
            if target is not None:
                texts.append(row["text"])
                targets.append(target)
    for document in documents.values():
        lead, *rest = [text for _, text in sorted(document)]
        if len(rest) > 1:
            pairs += [(lead, text, True) for text in rest[:39]]
            pairs += [(a, b, True) for a, b in zip(rest, rest[1:]) if random.random() < 0.3]
    return texts, unit(np.array(targets, np.float32)), n_english, pairs


# ---- fitting -------------------------------------------------------------------------------------

def solve(x, y, start):
    """Ridge towards `start`, by conjugate gradients, each dimension on its own."""
    w = start.copy()
    r = x.T @ (y - x @ w)
    p, rr = r.copy(), (r * r).sum(0)
    for _ in range(ROUNDS):
        ap = x.T @ (x @ p) + RIDGE * p
        step = rr / np.maximum((p * ap).sum(0), 1e-12)
        w += step * p
        r -= step * ap
        more = (r * r).sum(0)
        p = r + more / np.maximum(rr, 1e-12) * p
        rr = more
    return w


class Descent:
    """Adagrad on the rows that a batch touches, one rate a row."""

    def __init__(self, w, n_steps):
        self.w, self.n_steps, self.step = w, n_steps, 0
        self.squares = np.full(len(w), 1e-8, np.float32)
        self.rate = RATE * np.sqrt((w * w).sum(1)).mean()
        self.batch = []

    def forward(self, bags):
        total = bags @ self.w
        length = np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-6)
        return total / length, length

    def add(self, bags, u, length, gradient):
        """Takes note of a gradient by unit vectors."""
        self.batch.append((bags, (gradient - (gradient * u).sum(1, keepdims=True) * u) / length))

    def apply(self):
        bags = sp.vstack([b for b, _ in self.batch]).tocsr()
        gradient = np.vstack([g for _, g in self.batch]).astype(np.float32)
        rows = np.unique(bags.indices)
        gradient = bags[:, rows].T @ gradient
        self.squares[rows] += (gradient * gradient).mean(1)
        rate = self.rate * (1 - self.step / self.n_steps)
        self.w[rows] -= rate * gradient / np.sqrt(self.squares[rows])[:, None]
        self.batch, self.step = [], self.step + 1


def towards_targets(descent, bags, targets):
    u, length = descent.forward(bags)
    descent.add(bags, u, length, -targets / len(targets))
    return 1 - (u * targets).sum(1).mean()


def towards_partners(descent, bags, pairs):
    """InfoNCE: each text of a pair is to find the other among all of the batch."""
    a, b = bags[pairs[:, 0]], bags[pairs[:, 1]]
    (ua, la), (ub, lb) = descent.forward(a), descent.forward(b)
    near = ua @ ub.T / TEMPERATURE
    same = (pairs[:, 0][:, None] == pairs[:, 0]) | (pairs[:, 1][:, None] == pairs[:, 1])
    np.fill_diagonal(same, False)
    near[same] = -30
    there = np.exp(near - near.max(1, keepdims=True))
    there /= there.sum(1, keepdims=True)
    back = np.exp(near - near.max(0, keepdims=True))
    back /= back.sum(0, keepdims=True)
    wrong = (there + back) / 2 - np.eye(len(pairs), dtype=np.float32)
    weight = NEARNESS / TEMPERATURE / BATCH
    descent.add(a, ua, la, weight * (wrong @ ub))
    descent.add(b, ub, lb, weight * (wrong.T @ ua))
    return -np.log(np.maximum(np.diag(there), 1e-9)).mean()


def descend(w, x, targets, n_english, bags, pairs):
    chance = np.random.default_rng(SEED)
    translations, documents = pairs[pairs[:, 2] == 0], pairs[pairs[:, 2] == 1]
    n_documents = BATCH // 4
    n_translations = BATCH - n_documents
    steps = len(translations) // n_translations
    descent = Descent(w, EPOCHS * steps)
    for epoch in range(EPOCHS):
        chance.shuffle(translations)
        losses = np.zeros(3)
        for at in range(steps):
            some = np.concatenate([chance.integers(0, n_english, BATCH), chance.integers(n_english, len(targets), BATCH)])
            losses[0] += towards_targets(descent, x[some], targets[some])
            some = translations[at * n_translations:(at + 1) * n_translations]
            losses[1] += towards_partners(descent, bags, some)
            losses[2] += towards_partners(descent, bags, documents[chance.integers(0, len(documents), n_documents)])
            descent.apply()
        log("epoch", epoch, "1 - cosine, translations, documents:", (losses / steps).round(3))
    return w


def turn(w, x):
    """The rows in dimensions by how much sentences differ in them, the leading ones."""
    values, axes = np.linalg.eigh(np.cov(unit(x @ w).T))
    order = np.argsort(values)[::-1][:DIMENSIONS]
    log("kept of the variance", (values[order].sum() / values.sum()).round(4))
    return w @ axes[:, order].astype(np.float32)


def main(sentences, vocabulary, teachers, out, name):
    random.seed(SEED)
    pieces = [tuple(json.loads(line)[:3]) for line in open(vocabulary, encoding="utf8")]
    tokenizer, known = Tokenizer(pieces), Teachers(teachers)
    texts, targets, n_english, pairs = read(sentences, known)
    mean = targets[:n_english].mean(0)
    axes = np.linalg.eigh(np.cov((targets[:n_english] - mean).T))[1][:, ::-1][:, :FULL].astype(np.float32)
    targets = unit((targets - mean) @ axes)
    probability = np.exp(-np.array([cost for _, _, cost in pieces], np.float32))
    start = known.pieces([p for p, _, _ in pieces]) @ axes * (FREQUENT / (FREQUENT + probability))[:, None]
    x = tokenizer.bags(texts)
    known_texts = np.diff(x.indptr) > 0
    n_english = int(known_texts[:n_english].sum())
    x, targets = x[known_texts], targets[known_texts]
    guess = x @ start
    start *= (guess * targets).sum() / (guess * guess).sum()
    log(len(texts), "texts", n_english, "English", len(pairs), "pairs")
    w = solve(x, targets, start.astype(np.float32))
    numbers = {}
    pairs = np.array([(numbers.setdefault(a, len(numbers)), numbers.setdefault(b, len(numbers)), same) for a, b, same in pairs])
    bags = tokenizer.bags(list(numbers))
    log("solved")
    w = turn(descend(w, x, targets, n_english, bags, pairs), x)
    size = write(out, [(p.encode(), f, c) for p, f, c in pieces], w, bits=4, tokenizer=WORDS, flags=FOLD_CASE,
                 unknown=UNKNOWN, name=name)
    log(size, "bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
