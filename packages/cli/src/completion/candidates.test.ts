import { describe, expect, it } from "vitest";
import { createProgram } from "../program.ts";
import { candidatesFor } from "./candidates.ts";

const at = (...words: readonly string[]) =>
  candidatesFor(
    createProgram(() => undefined),
    words,
  );
const wordsAt = (...words: readonly string[]) => at(...words).words.map(({ word }) => word);

describe("candidatesFor", () => {
  it("names the commands, with what they do", () => {
    expect(wordsAt("")).toEqual(expect.arrayContaining(["dev", "run", "why", "describe", "completion"]));
    expect(at("").words.find(({ word }) => word === "why")?.description).toMatch(/^show why machine\/NAME/);
    expect(wordsAt("describe", "")).toEqual(expect.arrayContaining(["deployment", "machine"]));
    expect(wordsAt("crds", "")).toEqual(expect.arrayContaining(["diff", "apply"]));
  });

  it("names visible flags of the command, and values that a flag or argument can have", () => {
    expect(wordsAt("why", "-")).toEqual(expect.arrayContaining(["--namespace", "--output", "--state", "--help"]));
    expect(wordsAt("why", "-")).not.toContain("--all-namespaces");
    expect(wordsAt("why", "-o", "")).toEqual(["text", "json", "yaml"]);
    expect(wordsAt("completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  it.each([
    [["describe", "md", ""], "MachineDeployment", ""],
    [["describe", "machine", "pool"], "Machine", ""],
    [["why", "node/"], "Node", "node/"],
    [["why", "md/po"], "MachineDeployment", "md/"],
    [["drain", "--dry-run", ""], "Node", ""],
    [["doctor", "a", ""], "MachineClass", ""],
    [["approve", "set", ""], "MachineSet", ""],
    [["why", "-n", ""], "Namespace", ""],
    [["drift", "--deployment", ""], "MachineDeployment", ""],
  ])("asks for names of objects: %j", (words, kind, prefix) => {
    expect(at(...words).objects).toEqual({ kind, prefix });
  });

  it("begins a subject with its kind, without a blank behind it", () => {
    expect(at("why", "m")).toMatchObject({ isPart: true });
    expect(wordsAt("why", "m")).toContain("machine/");
  });

  it("takes the cluster from the flags before", () => {
    expect(at("why", "--kubeconfig", "a", "-n=b", "--context=c", "md/").flags).toEqual({
      kubeconfig: "a",
      namespace: "b",
      context: "c",
    });
  });

  it.each([[["replay", ""]], [["plan", "-f", ""]], [["why", "--kubeconfig", ""]], [["why", "--state", "x"]]])(
    "leaves paths to the shell: %j",
    (words) => expect(at(...words)).toMatchObject({ areFiles: true, words: [] }),
  );

  it.each([
    [["version", "a", ""]],
    [["no-such", ""]],
    [["approve", "x", ""]],
    [["why", "a/b"]],
    [["describe", "machine", "a", ""]],
  ])("has nothing for %j", (words) => expect(at(...words)).toMatchObject({ areFiles: false, words: [] }));
});
