import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { main } from "./main.ts";

let folder: string;
let said: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-main-"));
  said = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said += String(text);
    return true;
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

it("says in one line why it could not, without what a terminal would take for a command", async () => {
  const file = join(folder, "change.yaml");
  await writeFile(file, 'apiVersion: v1\nkind: "A\\e[31mList"\nitems: [1]\n');
  expect(await main(["plan", "-f", file])).toBe(1);
  expect(said).toMatch(/^millwright: .*item 1: not an object.*\n$/);

  said = "";
  await writeFile(
    file,
    'apiVersion: machine.sapcloud.io/v1alpha1\nkind: MachineSet\nmetadata: {name: "a\\e[31m", namespace: b}\n',
  );
  expect(await main(["plan", "-f", file, "--state", file, "-n", "c"])).toBe(1);
  expect(said).toContain('MachineSet "a [31m": metadata.namespace is "b"');
  expect(said).not.toContain("\u001b");
});
