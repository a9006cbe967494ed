import { ConfigError, isConfigError } from "@millwright/base";
import { defineDriver } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { collectDrivers, type DriverPlace, type OpenedDriver } from "./collect-drivers.ts";

const driverNamed = (name: string) => {
  const vm = () => Promise.resolve({ providerId: "x:///1", nodeName: "n" });
  const spec = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } } as const;
  return defineDriver({
    name,
    spec,
    createMachine: vm,
    deleteMachine: () => Promise.resolve({}),
    getMachineStatus: vm,
  });
};

/** Drivers by their flags; each opening takes the next of its results: a name, an error, or `"waits"`. */
function start(results: Readonly<Record<string, readonly (string | Error)[]>>, place: DriverPlace = "isolated") {
  const clock = createVirtualClock();
  const lines: string[] = [];
  const closed: string[] = [];
  const left = new Map(Object.entries(results).map(([provider, each]) => [provider, [...each]]));
  const collection = collectDrivers(
    Object.keys(results).map((provider) => ({ provider, place: provider === "slow" ? "address" : place })),
    {
      clock,
      log: (level, message, fields) => lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
      signal: new AbortController().signal,
      open: ({ provider }, signal): Promise<OpenedDriver> => {
        const result = left.get(provider)?.shift() ?? "waits";
        if (result === "waits")
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        if (typeof result !== "string") return Promise.reject(result);
        const driver = driverNamed(result);
        return Promise.resolve({ driver, version: "1.2.3", close: async () => void closed.push(result) });
      },
    },
  );
  return { clock, lines, closed, collection };
}

const names = (drivers: readonly { readonly name: string }[]): readonly string[] => drivers.map(({ name }) => name);

const down = new ConfigError("its process ended");

describe("drivers that are opened", () => {
  it("are all there at once when none fails, and no timer is left", async () => {
    const { clock, collection } = start({ aws: ["aws"], mock: ["mock"] });
    expect(names(await (await collection).first())).toEqual(["aws", "mock"]);
    expect(clock.pending()).toBe(0);
  });

  it("have different names: a class would get one or the other", async () => {
    const { collection } = start({ aws: ["aws"], AWS: ["aws"] });
    const error: unknown = await (await collection).first().catch((thrown: unknown) => thrown);
    expect(isConfigError(error)).toBe(true);
    expect(String(error)).toContain('two drivers have the name "aws"');
  });

  it("do not wait for one that is not there within ten seconds", async () => {
    const { clock, collection } = start({ slow: ["waits"], mock: ["mock"] });
    const drivers = await collection;
    let first: readonly string[] = [];
    const done = drivers.first().then((all) => (first = names(all)));
    await clock.advance(9_999);
    expect(first).toEqual([]);
    await clock.advance(1);
    await done;
    expect(first).toEqual(["mock"]);
    await drivers.close();
  });

  it("are waited for longer when their process starts: what it reports comes before errors of clusters", async () => {
    const { clock, collection } = start({ hanging: ["waits"], mock: ["mock"] });
    let isThere = false;
    void collection.then(() => (isThere = true));
    await clock.advance(9_999);
    expect(isThere).toBe(false);
    await clock.advance(1);
    const drivers = await collection;
    const first = drivers.first();
    await clock.advance(10_000);
    expect(names(await first)).toEqual(["mock"]);
    await drivers.close();
  });

  it("are waited for as long as they start when there is only one, whose failure is then final", async () => {
    const { clock, collection } = start({ hanging: ["waits"] });
    let isThere = false;
    void collection.then(() => (isThere = true));
    await clock.advance(3_600_000);
    expect(isThere).toBe(false);
    const { collection: failed } = start({ broken: [down] });
    await expect(failed).rejects.toBe(down);
  });

  it("are opened again with backoff when they fail, and come later", async () => {
    const { clock, closed, collection, lines } = start({ late: [down, down, "late"], mock: ["mock"] });
    const drivers = await collection;
    expect(names(await drivers.first())).toEqual(["mock"]);
    const later: string[] = [];
    drivers.later(({ name }) => later.push(name));
    await clock.advance(2_999);
    expect(later).toEqual([]);
    expect(lines.filter((line) => line.startsWith("error"))).toEqual([
      'error A driver cannot be used; its machines wait {"provider":"late","error":"its process ended","retryAfterMs":1000}',
      'error A driver cannot be used; its machines wait {"provider":"late","error":"its process ended","retryAfterMs":2000}',
    ]);
    await clock.advance(1);
    expect(later).toEqual(["late"]);
    await clock.advance(3_600_000);
    expect(later).toEqual(["late"]);
    await drivers.close();
    expect(closed.toSorted()).toEqual(["late", "mock"]);
    expect(clock.pending()).toBe(0);
  });

  it("are tried once a minute at least, until they are closed", async () => {
    const { clock, collection, lines } = start({ late: Array.from({ length: 100 }, () => down), mock: ["mock"] });
    const drivers = await collection;
    await drivers.first();
    await clock.advance(600_000);
    expect(lines.filter((line) => line.startsWith("error"))).toHaveLength(15);
    await drivers.close();
    expect(clock.pending()).toBe(0);
  });

  it("wait for the first of them", async () => {
    const { clock, collection } = start({ slow: ["waits"], broken: [down, "broken"] });
    const drivers = await collection;
    const first = drivers.first();
    await clock.advance(11_000);
    expect(names(await first)).toEqual(["broken"]);
    await drivers.close();
  });

  it("are not waited for when the process stops", async () => {
    const { collection } = start({ slow: ["waits"] });
    const drivers = await collection;
    const [first] = await Promise.allSettled([drivers.first(), drivers.close()]);
    expect(first).toMatchObject({ status: "rejected", reason: { message: "drivers are closed" } });
  });

  it("end the start with the first failure when none of them can be used", async () => {
    await expect(start({ one: [down], two: [new ConfigError("other")] }).collection).rejects.toThrow(down);
    await expect(start({ only: [down] }).collection).rejects.toThrow(down);
    const { collection } = start({ slow: [down] });
    await expect(collection.then((drivers) => drivers.first())).rejects.toThrow(down);
  });

  it("end the start when one cannot be loaded into this process, and the others are closed", async () => {
    const { closed, collection } = start({ mock: ["mock"], typo: [down] }, "inProcess");
    await expect(collection).rejects.toThrow(down);
    expect(closed).toEqual(["mock"]);
  });

  it("cannot be used when they come later with a name that another has", async () => {
    const { clock, collection, lines } = start({ late: [down, "mock"], mock: ["mock"] });
    const drivers = await collection;
    await drivers.first();
    drivers.later(() => {
      throw new ConfigError("two drivers");
    });
    await clock.advance(1_000);
    expect(lines.at(-1)).toBe('error A driver cannot be used {"driver":"mock","error":"two drivers"}');
    await drivers.close();
  });
});
