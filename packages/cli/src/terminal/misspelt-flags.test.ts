import { expect, it, vi } from "vitest";
import { main } from "../main.ts";
import { createProgram } from "../program.ts";
import { separateMisspeltFlags } from "./misspelt-flags.ts";

const separate = (line: string): string =>
  separateMisspeltFlags(
    line.split(" "),
    createProgram(() => undefined),
  ).join(" ");

it.each([
  ["run --machine-helth-timeout=5m", "run --machine-helth-timeout 5m"],
  ["run --machine-health-timeout=5m --port=0", "run --machine-health-timeout=5m --port=0"],
  ["run --kube-api-qps=5 --no-leader-elect", "run --kube-api-qps=5 --no-leader-elect"],
  ["driver serve x -- --own=1", "driver serve x -- --own=1"],
])("reads %s as %s", (line, read) => {
  expect(separate(line)).toBe(read);
});

it("suggests the flag that was meant, also with a value", async () => {
  let errors = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => (errors += String(text)) !== "");
  expect(await main(["run", "--provider=mock", "--machine-helth-timeout=5m"])).toBe(2);
  vi.restoreAllMocks();
  expect(errors).toContain("unknown option '--machine-helth-timeout'\n(Did you mean --machine-health-timeout?)");
});
