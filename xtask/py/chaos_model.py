"""Writes a small language model with random weights, as GGUF.

Whoever serves it gets an adversary: under a grammar it makes calls that are well formed
and senseless, without one it writes noise. The seed picks the model.

usage: chaos_model.py OUT [--seed N] [--call-bias X] [--byte-bias X]
"""

import argparse
import math
from pathlib import Path

import gguf
import numpy

WIDTH, LAYERS, HEADS, INNER, CONTEXT = 128, 4, 4, 256, 32768

# The number of a token's kind, as GGUF has it.
NORMAL, UNKNOWN, CONTROL, OWN, BYTE = 1, 2, 3, 4, 6

# What the network reads in its first dimension, for every token and in every layer, is
# this constant. The first column of the output is therefore a bias for each token.
CONSTANT = 6.0


class Vocabulary:
    """Bytes, printable characters, and the markers that the chat template uses."""

    def __init__(self):
        self.texts, self.kinds, self.scores = [], [], []
        self.add("<unk>", UNKNOWN)
        self.start = self.add("<s>", CONTROL)
        self.add("</s>", CONTROL)
        for byte in range(256):
            self.add(f"<0x{byte:02X}>", BYTE)
        for code in range(0x20, 0x7F):
            # A space is written as a low block in vocabularies of this kind.
            self.add("\u2581" if code == 0x20 else chr(code), NORMAL, -float(code))
        self.call = self.add("<tool_call>", OWN)
        self.called = self.add("</tool_call>", OWN)
        self.opens = self.add("<|im_start|>", CONTROL)
        self.ends = self.add("<|im_end|>", CONTROL)

    def add(self, text, kind, score=0.0):
        self.texts.append(text.encode())
        self.kinds.append(kind)
        self.scores.append(score)
        return len(self.texts) - 1

    def bias(self, call, byte):
        """How much likelier each token is made."""
        bias = numpy.zeros(len(self.texts), numpy.float32)
        for place, kind in enumerate(self.kinds):
            if kind == BYTE:
                bias[place] = byte
            elif kind in (UNKNOWN, CONTROL):
                bias[place] = -4.0
        bias[self.call] = call
        bias[self.called] = -4.0
        bias[2] = bias[self.ends] = 2.0
        return bias


class Weights:
    """Seeded draws, scaled to the number of inputs."""

    def __init__(self, seed):
        self.draws = numpy.random.default_rng(seed)

    def matrix(self, rows, columns, strength):
        drawn = self.draws.standard_normal((rows, columns)) * (strength / math.sqrt(columns))
        return drawn.astype(numpy.float32)

    def into_the_stream(self, rows, columns):
        """A matrix whose results are added to the stream, but not to its constant."""
        drawn = self.matrix(rows, columns, 2.0)
        drawn[0, :] = 0.0
        return drawn


def describe(writer, words, template):
    writer.add_name("chaos")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(words.texts))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(words.texts)
    writer.add_token_scores(words.scores)
    writer.add_token_types(words.kinds)
    writer.add_bos_token_id(words.start)
    writer.add_eos_token_id(words.ends)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(template)


def fill(writer, words, weights, bias):
    ones = numpy.ones(WIDTH, numpy.float32)
    embedding = weights.matrix(len(words.texts), WIDTH, 8.0)
    embedding[:, 0] = CONSTANT
    output = weights.matrix(len(words.texts), WIDTH, 1.5)
    output[:, 0] = bias / 3.0
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output_norm.weight", ones)
    writer.add_tensor("output.weight", output)
    for layer in range(LAYERS):
        def put(name, tensor, layer=layer):
            writer.add_tensor(f"blk.{layer}.{name}.weight", tensor)

        put("attn_norm", ones)
        for part in ("attn_q", "attn_k", "attn_v"):
            put(part, weights.matrix(WIDTH, WIDTH, 2.0))
        put("attn_output", weights.into_the_stream(WIDTH, WIDTH))
        put("ffn_norm", ones)
        put("ffn_gate", weights.matrix(INNER, WIDTH, 2.0))
        put("ffn_up", weights.matrix(INNER, WIDTH, 2.0))
        put("ffn_down", weights.into_the_stream(WIDTH, INNER))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--call-bias", type=float, default=9.0, help="how soon it calls a tool")
    parser.add_argument("--byte-bias", type=float, default=-12.0, help="how dirty its text is")
    asked = parser.parse_args()
    words = Vocabulary()
    writer = gguf.GGUFWriter(asked.out, "llama")
    template = Path(__file__).with_name("template.jinja").read_text(encoding="utf-8")
    describe(writer, words, template)
    fill(writer, words, Weights(asked.seed), words.bias(asked.call_bias, asked.byte_bias))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
