import { describe, expect, it } from "vitest";
import { createSessionPool } from "./session-pool.ts";

/** A pool whose sessions only know that they were closed. */
function aPool() {
  const closed: string[] = [];
  let opened = 0;
  const pool = createSessionPool((region: string, { key }: { readonly key: string }) => {
    opened++;
    return { close: () => void closed.push(`${region}/${key}`) };
  });
  const use = (className: string, key: string, region = "r") =>
    pool.use(className, region, { key }, () => Promise.resolve());
  return { pool, use, closed, openedCount: () => opened };
}

describe("sessions", () => {
  it("are shared by all that use a credential in a region", async () => {
    const { pool, use, openedCount } = aPool();
    await use("a", "1");
    await use("b", "1");
    await use("a", "1", "other-region");
    expect([openedCount(), pool.size]).toEqual([2, 2]);
  });

  it("are closed when the secret of the last class that uses them changes", async () => {
    const { pool, use, closed } = aPool();
    await use("a", "1");
    await use("b", "1");
    await use("a", "2");
    expect(closed).toEqual([]);
    await use("b", "2");
    expect(closed).toEqual(["r/1"]);
    expect(pool.size).toBe(1);
  });

  it("are closed only when their last call has ended", async () => {
    const { pool, use, closed } = aPool();
    let end = (): void => undefined;
    const running = pool.use("a", "r", { key: "1" }, () => new Promise<void>((resolve) => (end = resolve)));
    await use("a", "2");
    expect(closed).toEqual([]);
    end();
    await running;
    expect(closed).toEqual(["r/1"]);
  });

  it("do not pile up when classes come and go", async () => {
    const { pool, use } = aPool();
    for (let index = 0; index < 200; index++) await use(`class-${index}`, `key-${index}`);
    expect(pool.size).toBeLessThanOrEqual(50);
  });
});
