"""Compares the vectors of a sentence transformer with those of a plain reading: transformer.py DIR [N].

DIR holds `model.safetensors`, `tokenizer.json` and `config.json`. Texts are every Nth of `../tests/meaning/reference.tsv`
(ten languages; by default every 10th). Prints how far cosines differ, and the texts that differ most. Needs `numpy` and
`tokenizers`, and Cargo for the other side."""
import json
import math
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
MAX_PIECES = 128
KINDS = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
erf = np.vectorize(math.erf)


class Bert:
    def __init__(self, directory):
        self.config = json.loads((directory / "config.json").read_text())
        raw = (directory / "model.safetensors").read_bytes()
        size = struct.unpack("<Q", raw[:8])[0]
        self.weights = {}
        for name, tensor in json.loads(raw[8:8 + size]).items():
            if name != "__metadata__":
                start, end = (8 + size + at for at in tensor["data_offsets"])
                values = np.frombuffer(raw[start:end], KINDS[tensor["dtype"]]).reshape(tensor["shape"])
                self.weights[name.removeprefix("bert.")] = values
        self.tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_PIECES)
        pooling = directory / "1_Pooling/config.json"
        self.is_first = pooling.exists() and json.loads(pooling.read_text()).get("pooling_mode_cls_token", False)
        self.prompt = "query: " if "e5" in directory.name else ""

    def get(self, name):
        return self.weights[name].astype(np.float64)

    def linear(self, x, name):
        return x @ self.get(name + ".weight").T + self.get(name + ".bias")

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        deviation = np.sqrt((centred ** 2).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return centred / deviation * self.get(name + ".weight") + self.get(name + ".bias")

    def vector(self, text):
        ids = self.tokenizer.encode(self.prompt + text).ids
        words = self.weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
        places = self.get("embeddings.position_embeddings.weight")[:len(ids)]
        x = self.norm(words + places + self.get("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm")
        heads = self.config["num_attention_heads"]
        for layer in range(self.config["num_hidden_layers"]):
            of = f"encoder.layer.{layer}."
            query, key, value = (self.linear(x, of + f"attention.self.{part}").reshape(len(ids), heads, -1)
                                 for part in ("query", "key", "value"))
            scores = np.einsum("ihd,jhd->hij", query, key) / math.sqrt(query.shape[-1])
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            seen = np.einsum("hij,jhd->ihd", scores / scores.sum(-1, keepdims=True), value).reshape(x.shape)
            x = self.norm(x + self.linear(seen, of + "attention.output.dense"), of + "attention.output.LayerNorm")
            inner = self.linear(x, of + "intermediate.dense")
            inner = 0.5 * inner * (1 + erf(inner / math.sqrt(2)))
            x = self.norm(x + self.linear(inner, of + "output.dense"), of + "output.LayerNorm")
        vector = x[0] if self.is_first else x.mean(0)
        return vector / np.linalg.norm(vector)


def main():
    directory = Path(sys.argv[1]).resolve()
    lines = (HERE.parent / "tests/meaning/reference.tsv").read_text().splitlines()
    texts = [line.split("\t")[0] for line in lines[::int(sys.argv[2]) if len(sys.argv) > 2 else 10]]
    texts = [text.replace("\\n", " ").replace("\\t", " ") for text in texts]
    bench = "cargo bench -q -p repertoire-meaning --features transformer --bench transformer --".split()
    run = subprocess.run([*bench, str(directory), "vectors"], input="".join(text + "\n" for text in texts),
                         capture_output=True, text=True, check=True, cwd=HERE)
    ours = np.array([line.split() for line in run.stdout.splitlines()], float)
    bert = Bert(directory)
    plain = np.array([bert.vector(text) for text in texts])
    agreement = (ours * plain).sum(1)
    differences = np.abs(ours @ ours.T - plain @ plain.T)
    print(f"{len(texts)} texts: cosine with the plain reading {agreement.mean():.4f} on average, least {agreement.min():.4f}")
    print(f"cosines of two texts differ by {differences.mean():.4f} on average, 99 of 100 by less than "
          f"{np.quantile(differences, 0.99):.4f}, at most {differences.max():.4f}")
    for at in np.argsort(agreement)[:5]:
        print(f"  {agreement[at]:.4f} {texts[at][:80]}")


main()
