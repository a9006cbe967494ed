import { expect, it } from "vitest";
import { exceptions, exceptionsFor, findRemovedWords } from "./removed-words.ts";
import { readRepositoryFile, repositoryFiles } from "./repository-files.ts";

it("finds removed words in text, identifiers and file names", () => {
  const text = "const wakeAfterMs = 1;\n// who was told is no Machine\nconst LaneTrouble = 2;";
  expect(findRemovedWords("src/left-disks.ts", text).map(({ line, word }) => `${line} ${word}`)).toEqual([
    "0 left disks",
    "1 wake",
    "2 told",
    "2 is no Machine",
    "3 Lane",
    "3 Trouble",
  ]);
});

it("finds British spelling", () => {
  const text = "const isCancelled = true; // colours of labelled nodes\nnormaliser, which organises a licence";
  expect(findRemovedWords("src/behaviour.ts", text).map(({ word }) => word)).toEqual([
    "behaviour",
    "colours",
    "Cancelled",
    "labelled",
    "licence",
    "normaliser",
    "organises",
  ]);
});

it("leaves words alone that only contain one", () => {
  expect(
    findRemovedWords(
      "src/a.ts",
      "// retries, there is no Machine, it is no longer ready, the taint is NoSchedule; essays, planes",
    ),
  ).toEqual([]);
});

it("allows the same words in other meanings", () => {
  const text = "CustomResourceDefinition, customResourceDefinitions, guestCpus: 2, VMGuestStateOnly";
  expect(findRemovedWords("packages/controllers/src/a.ts", text)).toEqual([]);
});

it("finds words that are only removed from some packages", () => {
  expect(findRemovedWords("packages/controllers/src/a.ts", "const definition = 1;")).toHaveLength(1);
  expect(findRemovedWords("packages/devcluster/src/a.ts", "const definition = 1;")).toEqual([]);
});

it("has no exception that is not needed", () => {
  const needed = new Set(repositoryFiles().flatMap((file) => exceptionsFor(file, readRepositoryFile(file))));
  expect(exceptions.filter((exception) => !needed.has(exception)).map(({ file, line }) => `${file} ${line}`)).toEqual(
    [],
  );
});
