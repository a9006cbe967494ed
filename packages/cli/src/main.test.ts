import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { main } from "./main.ts";

let folder: string;
let stderr: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-main-"));
  stderr = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

it("reports a failure in one line, without control characters", async () => {
  const file = join(folder, "change.yaml");
  await writeFile(file, 'apiVersion: v1\nkind: "A\\e[31mList"\nitems: [1]\n');
  expect(await main(["plan", "-f", file])).toBe(1);
  expect(stderr).toMatch(/^millwright: .*item 1: not an object.*\n$/);

  stderr = "";
  await writeFile(
    file,
    'apiVersion: machine.sapcloud.io/v1alpha1\nkind: MachineSet\nmetadata: {name: "a\\e[31m", namespace: b}\n',
  );
  expect(await main(["plan", "-f", file, "--state", file, "-n", "c"])).toBe(1);
  expect(stderr).toContain('MachineSet "a [31m": metadata.namespace is "b"');
  expect(stderr).not.toContain("\u001b");
});
