#!/usr/bin/env python3
"""Trove's encoder against ONNX Runtime (fp32): same weights, texts, threads and run.

    python3 -m venv /tmp/ort && /tmp/ort/bin/pip install numpy onnx onnxruntime tokenizers safetensors
    cargo build --release -p trove-local --example embed_throughput
    /tmp/ort/bin/python crates/trove-local/benches/compare_onnxruntime.py

There is no ONNX file to compare with, so the script writes the graph itself from
model.safetensors and lets ONNX Runtime optimise it (fused attention, GELU and layer norm, checked
below). Both sides get the same texts and take turns, so that other load on the machine hits both.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
HIDDEN, HEADS, HEAD, LAYERS, WINDOW, BATCH = 384, 12, 32, 6, 256, 16


def build_graph(weights, path):
    """BERT encoder, masked mean pooling and L2 norm with the standard operators."""
    nodes, initializers = [], {}

    def const(name, array):
        if name not in initializers:
            initializers[name] = numpy_helper.from_array(np.asarray(array), name)
        return name

    def op(kind, inputs, **attributes):
        out = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [out], name=out, **attributes))
        return out

    def linear(x, prefix):
        product = op("MatMul", [x, const(prefix + ".weight_t", weights[prefix + ".weight"].T.copy())])
        return op("Add", [product, const(prefix + ".bias", weights[prefix + ".bias"])])

    def norm(x, prefix):
        gain, shift = (const(f"{prefix}.{part}", weights[f"{prefix}.{part}"]) for part in ("weight", "bias"))
        return op("LayerNormalization", [x, gain, shift], axis=-1, epsilon=1e-12)

    def shape(*dims):
        return const("shape_" + "_".join(map(str, dims)), np.array(dims, np.int64))

    x = op("Gather", [const("words", weights["embeddings.word_embeddings.weight"]), "input_ids"])
    positions = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    length = op("Slice", [op("Shape", ["input_ids"]), shape(1), shape(2)])
    x = op("Add", [x, op("Slice", [const("positions", positions), shape(0), length, shape(0)])])
    x = norm(x, "embeddings.LayerNorm")
    mask = op("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    bias = op("Sub", [op("Unsqueeze", [mask, shape(1, 2)]), const("one", np.float32(1))])
    bias = op("Mul", [bias, const("large", np.float32(1e9))])
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        parts = []
        for part in ("query", "key", "value"):
            y = op("Reshape", [linear(x, prefix + "attention.self." + part), shape(0, 0, HEADS, HEAD)])
            parts.append(op("Transpose", [y], perm=[0, 2, 3, 1] if part == "key" else [0, 2, 1, 3]))
        scores = op("MatMul", parts[:2])
        scores = op("Div", [scores, const("root", np.float32(HEAD**0.5))])
        probabilities = op("Softmax", [op("Add", [scores, bias])], axis=-1)
        context = op("Transpose", [op("MatMul", [probabilities, parts[2]])], perm=[0, 2, 1, 3])
        context = op("Reshape", [context, shape(0, 0, HIDDEN)])
        x = norm(op("Add", [linear(context, prefix + "attention.output.dense"), x]), prefix + "attention.output.LayerNorm")
        y = linear(x, prefix + "intermediate.dense")
        erf = op("Erf", [op("Div", [y, const("root2", np.float32(2**0.5))])])
        y = op("Mul", [op("Mul", [y, op("Add", [erf, const("one", np.float32(1))])]), const("half", np.float32(0.5))])
        x = norm(op("Add", [linear(y, prefix + "output.dense"), x]), prefix + "output.LayerNorm")
    weight = op("Unsqueeze", [mask, shape(2)])
    total = op("ReduceSum", [op("Mul", [x, weight]), shape(1)], keepdims=0)
    mean = op("Div", [total, op("ReduceSum", [weight, shape(1)], keepdims=0)])
    nodes.append(helper.make_node("LpNormalization", [mean], ["vectors"], axis=1, p=2))
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "tokens"]) for n in ("input_ids", "attention_mask")]
    outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", HIDDEN])]
    graph = helper.make_graph(nodes, "minilm", inputs, outputs, list(initializers.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


class OnnxRuntime:
    def __init__(self, model, optimised, tokenizer, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.optimized_model_filepath = str(optimised)
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.tokenizer = tokenizer

    def embed(self, texts):
        """As sentence-transformers does it: sorted by length, padded to the longest of a batch."""
        encodings = self.tokenizer.encode_batch(texts)
        order = sorted(range(len(texts)), key=lambda i: -len(encodings[i].ids))
        vectors = np.empty((len(texts), HIDDEN), np.float32)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            longest = max(len(encodings[i].ids) for i in batch)
            ids = np.zeros((len(batch), longest), np.int64)
            mask = np.zeros((len(batch), longest), np.int64)
            for row, i in enumerate(batch):
                ids[row, : len(encodings[i].ids)] = encodings[i].ids
                mask[row, : len(encodings[i].ids)] = 1
            vectors[batch] = self.session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return vectors

    def time(self, texts, one_by_one):
        start = time.perf_counter()
        if one_by_one:
            times = []
            for text in texts:
                before = time.perf_counter()
                self.embed([text])
                times.append(time.perf_counter() - before)
            return statistics.median(times)
        self.embed(texts)
        return time.perf_counter() - start


class Trove:
    """The Rust example as a server on a pipe: one JSON request per line, one answer per line."""

    def __init__(self, binary, model_dir, threads, precision):
        command = [str(binary), str(model_dir), str(threads), precision]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def embed(self, texts):
        # As queries: what is made of the states of passages is not the mean.
        answer = self.ask(texts=texts, one_by_one=True, vectors=True)
        return np.array(answer["vectors"], np.float32)

    def time(self, texts, one_by_one):
        answer = self.ask(texts=texts, one_by_one=one_by_one)
        return answer["median_seconds"] if one_by_one else answer["seconds"]

    def resident_mb(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return {key: int(status.split(key + ":")[1].split()[0]) / 1024 for key in ("VmRSS", "VmHWM")}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def texts_of(tokenizer):
    """Pseudo-text from the vocabulary, reproducible, with exact lengths in word pieces."""
    words = [w for w, i in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]) if w.isascii() and w.isalpha() and len(w) > 2]
    random = np.random.default_rng(1)

    def text(pieces):
        return " ".join(random.choice(words, pieces - 2))

    return {
        "256-token passages": [text(WINDOW) for _ in range(48)],
        "mixed lengths": [text(int(n)) for n in random.integers(12, WINDOW, 64)],
        "short query": [text(int(n)) for n in random.integers(6, 14, 100)],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model-dir", type=Path, default=HERE.parents[2] / "target/models/all-MiniLM-L6-v2")
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[2] / "target"))
    parser.add_argument("--binary", type=Path, default=target / "release/examples/embed_throughput")
    parser.add_argument("--work", type=Path, default=Path("/tmp"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--precision", default="f32")
    args = parser.parse_args()

    tokenizer = Tokenizer.from_file(str(args.model_dir / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW)
    model = args.work / "minilm.onnx"
    build_graph(load_file(args.model_dir / "model.safetensors"), model)
    texts = texts_of(tokenizer)
    print(f"onnxruntime {onnxruntime.__version__}, precision of Trove: {args.precision}, median of {args.rounds} alternating rounds")
    print(f"{'threads':7}  {'texts':20} {'ONNX Runtime':>16} {'Trove':>16} {'ratio':>7}")
    for threads in args.threads:
        ort = OnnxRuntime(model, args.work / "minilm-optimised.onnx", tokenizer, threads)
        if threads == args.threads[0]:
            kinds = {node.op_type for node in onnx.load(args.work / "minilm-optimised.onnx").graph.node}
            assert "Gelu" in kinds or "BiasGelu" in kinds, f"not fused: {sorted(kinds)}"
            print("  optimised graph:", ", ".join(sorted(kinds)), file=sys.stderr)
        trove = Trove(args.binary, args.model_dir, threads, args.precision)
        for name, batch in texts.items():
            query = name == "short query"
            sample = batch[:8]
            distance = max(1 - (a @ b) for a, b in zip(ort.embed(sample), trove.embed(sample)))
            times = [(ort.time(batch, query), trove.time(batch, query)) for _ in range(args.rounds)]
            theirs, ours = (statistics.median(column) for column in zip(*times))
            ratio = statistics.median(a / b for a, b in times)
            if query:
                cells = f"{theirs * 1e3:13.2f} ms {ours * 1e3:13.2f} ms"
            else:
                cells = f"{len(batch) / theirs:14.1f}/s {len(batch) / ours:14.1f}/s"
            print(f"{threads:7}  {name:20} {cells} {ratio:6.2f}x   (cosine distance at most {distance:.1e})")
        memory = trove.resident_mb()
        print(f"{threads:7}  Trove's memory: {memory['VmRSS']:.0f} MB resident, {memory['VmHWM']:.0f} MB at most")
        trove.close()


if __name__ == "__main__":
    main()
