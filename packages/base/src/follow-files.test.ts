import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { followFiles } from "./follow-files.ts";

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "follow-files-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Reads what has a last line. */
function complete([content = Buffer.of()]: readonly Buffer[]): { readonly text: string } {
  const text = String(content);
  if (!text.endsWith(";")) throw new Error(`half written: ${text}`);
  return { text };
}

/** All texts have the same size, and each change the same time. */
const time = new Date("2026-01-01T00:00:00Z");
const renewal = fc.record({
  text: fc.string({ unit: fc.constantFrom("a", "b"), minLength: 4, maxLength: 4 }).map((text) => `${text};`),
  way: fc.constantFrom("in place", "in two parts", "by rename", "by a swapped link", "after it was missing"),
});

test("follows every renewal, also with the same size, time and inode, in any way files are written", () => {
  fc.assert(
    fc.property(fc.array(renewal, { minLength: 1, maxLength: 8 }), fc.nat(3), (renewals, looks) => {
      const folder = aFolder();
      const file = join(folder, "file");
      let versions = 0;
      const write = (path: string, text: string): void => {
        writeFileSync(path, text);
        utimesSync(path, time, time);
      };
      const publish = (text: string): void => {
        const data = `..${++versions}`;
        mkdirSync(join(folder, data));
        write(join(folder, data, "file"), text);
        symlinkSync(data, join(folder, "..new"));
        renameSync(join(folder, "..new"), join(folder, "..data"));
      };
      publish("0000;");
      symlinkSync(join("..data", "file"), file);
      const onProblem = vi.fn<(error: Error) => void>();
      const follow = followFiles([file], complete, { onProblem });
      let former = follow();
      const keepsFormer = (): void => {
        for (let look = 0; look < looks; look++) expect(follow()).toBe(former);
      };
      for (const { text, way } of renewals) {
        const target = join(folder, `..${versions}`, "file");
        if (way === "in place") write(target, text);
        if (way === "in two parts") {
          write(target, text.slice(0, 2));
          keepsFormer();
          write(target, text);
        }
        if (way === "by rename") {
          write(join(folder, "new"), text);
          renameSync(join(folder, "new"), target);
        }
        if (way === "by a swapped link") publish(text);
        if (way === "after it was missing") {
          rmSync(join(folder, "..data"));
          keepsFormer();
          publish(text);
        }
        const now = follow();
        expect(now).toEqual({ text });
        expect(follow()).toBe(now);
        former = now;
      }
    }),
  );
});

test("reports each problem once, and again after the files could be used", () => {
  const file = join(aFolder(), "file");
  writeFileSync(file, "a;");
  const onProblem = vi.fn<(error: Error) => void>();
  const follow = followFiles([file], complete, { onProblem });
  follow();
  for (const text of ["b", undefined, "b", "b;", "c"]) {
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
    for (let look = 0; look < 3; look++) follow();
  }
  expect(onProblem.mock.calls.map(([{ message }]) => message)).toEqual([
    "half written: b",
    `cannot read ${file}: ENOENT: no such file or directory, stat '${file}'`,
    "half written: c",
  ]);
});

test("throws as long as there was never any content, and names the file", () => {
  const file = join(aFolder(), "file");
  const follow = followFiles([file], complete);
  expect(follow).toThrow(`cannot read ${file}: ENOENT`);
  writeFileSync(file, "a");
  expect(follow).toThrow("half written: a");
  writeFileSync(file, "a;");
  expect(follow()).toEqual({ text: "a;" });
});

test("reads a pipe once, as <(command) of a shell is one", async () => {
  const file = join(aFolder(), "pipe");
  await promisify(execFile)("mkfifo", [file]);
  const writer = spawn("sh", ["-c", `printf 'a;' > ${file}`]);
  onTestFinished(() => void writer.kill());
  const follow = followFiles([file], complete);
  expect([follow(), follow()]).toEqual([{ text: "a;" }, { text: "a;" }]);
});
