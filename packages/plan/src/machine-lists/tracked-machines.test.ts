import { describe, expect, it } from "vitest";
import { aMachine, inPhase, named } from "@millwright/controllers/testing";
import { trackMachines } from "./tracked-machines.ts";

const [a, b, c] = ["a", "b", "c"].map((name) => aMachine(named(name)));

function three() {
  const tracked = trackMachines();
  for (const machine of [a, b, c]) if (machine !== undefined) tracked.put(machine);
  return tracked;
}

describe("trackMachines", () => {
  it("gives the same list as long as nothing changes", () => {
    const tracked = three();
    const list = tracked.list();
    expect(list).toEqual([a, b, c]);
    expect(tracked.list()).toBe(list);
    tracked.take("unknown");
    tracked.touch("unknown");
    expect(tracked.list()).toBe(list);
  });

  it("leaves lists that it has given as they were, without a lookup", () => {
    const tracked = three();
    const before = tracked.list();
    tracked.take("a");
    expect(before).toEqual([a, b, c]);
    expect(before.lookup).toBeUndefined();
    expect(tracked.list().lookup).toBeDefined();
  });

  it("keeps the place of a machine that is replaced, and appends one that is added again", () => {
    const tracked = three();
    const running = aMachine(named("a"), inPhase("Running"));
    tracked.put(running);
    expect(tracked.list()).toEqual([running, b, c]);
    tracked.take("a");
    tracked.put(running);
    expect(tracked.list()).toEqual([b, c, running]);
  });
});
