import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { descendantsOf, nothingUsed, resetPeakMemory, sampleProcess, useBetween } from "./sample-process.ts";

describe("useBetween", () => {
  const sample = (cpuSeconds: number, threads: readonly (readonly [number, string, number])[]) => ({
    ...nothingUsed,
    cpuSeconds,
    threads: new Map(threads.map(([id, name, seconds]) => [id, { name, parent: 0, seconds }] as const)),
    peakMiB: 10,
    readMiB: cpuSeconds,
  });

  it("adds up the threads of a name, and names what ended threads used", () => {
    const before = sample(2, [
      [1, "main", 1],
      [2, "worker", 0.5],
      [3, "gone", 0.5],
    ]);
    const after = sample(6, [
      [1, "main", 2],
      [2, "worker", 1],
      [4, "worker", 0.5],
    ]);
    expect(useBetween(before, after)).toMatchObject({
      cpuSeconds: 4,
      threads: [
        { name: "ended", cpuSeconds: 2 },
        { name: "main", cpuSeconds: 1 },
        { name: "worker", cpuSeconds: 1 },
      ],
      peakMiB: 10,
      readMiB: 4,
    });
  });
});

describe.runIf(process.platform === "linux")("a process", () => {
  it("has CPU, threads, memory and bytes, and a peak that can start again", async () => {
    const script = `
      let text = Buffer.alloc(150e6, 1);
      const end = Date.now() + 300;
      while (Date.now() < end);
      process.stdin.once("data", () => {
        text = undefined;
        gc();
        console.log("freed");
      });
      console.log("filled");`;
    const child = spawn(process.execPath, ["--expose-gc", "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
    try {
      await once(child.stdout, "data");
      const pid = child.pid ?? 0;
      const use = useBetween(nothingUsed, await sampleProcess(pid));
      expect(use.cpuSeconds).toBeGreaterThan(0.05);
      expect(use.threads[0]?.cpuSeconds).toBeGreaterThan(0.05);
      expect(use.peakMiB).toBeGreaterThan(143);
      expect(use.readMiB).toBeGreaterThan(0);
      expect(await descendantsOf(process.pid)).toContainEqual(expect.objectContaining({ pid }));
      child.stdin.write("free");
      await once(child.stdout, "data");
      expect((await sampleProcess(pid)).peakMiB).toBeGreaterThan(143);
      await resetPeakMemory(pid);
      expect((await sampleProcess(pid)).peakMiB).toBeLessThan(143);
    } finally {
      child.kill();
    }
  });
});
