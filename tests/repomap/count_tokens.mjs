// Counts tokens: a JSON list of texts on stdin, their counts by vocabulary on stdout.
// The first argument is a node_modules folder that has gpt-tokenizer.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(resolve(process.argv[2], "here.js"));
const texts = JSON.parse(readFileSync(0, "utf8"));
const counts = {};
for (const name of ["cl100k_base", "o200k_base"]) {
  const { countTokens } = require(`gpt-tokenizer/encoding/${name}`);
  counts[name] = texts.map((text) => countTokens(text));
}
console.log(JSON.stringify(counts));
