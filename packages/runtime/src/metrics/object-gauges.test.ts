import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { metricLines } from "../testing/metric-lines.ts";
import { measureObjects } from "./object-gauges.ts";

interface Thing {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly size: number;
  readonly colour?: string;
}

function setUp(things: Thing[], hasSynced = () => true) {
  const registry = new Registry();
  let failures = 0;
  measureObjects<Thing>(
    registry,
    {
      cache: {
        hasSynced,
        store: {
          list: () => things,
          get size() {
            return things.length;
          },
        },
      },
      items: { name: "things_total", help: "Things." },
      gauges: [
        {
          name: "thing_size",
          help: "Sizes.",
          labels: ["colour"],
          samples({ size, colour }) {
            if (size < 0) throw new RangeError("no size");
            return size === 0
              ? []
              : (colour ?? "").split("+").map((part, at) => ({ value: size + at, labels: { colour: part } }));
          },
        },
      ],
    },
    () => (failures += 1),
  );
  return { lines: () => metricLines(registry), failures: () => failures };
}
const thing = (name: string, size: number, colour?: string): Thing => ({
  metadata: { name, namespace: "n" },
  size,
  ...(colour === undefined ? {} : { colour }),
});

describe("gauges of objects", () => {
  it("show what is in the cache when they are read, and nothing of what was deleted or changed its labels (F37)", async () => {
    const things = [thing("a", 1, "red"), thing("b", 2)];
    const { lines } = setUp(things);
    expect(await lines()).toEqual([
      "things_total 2",
      'thing_size{name="a",namespace="n",colour="red"} 1',
      'thing_size{name="b",namespace="n",colour=""} 2',
    ]);
    things.splice(0, 2, thing("a", 1, "blue"));
    expect(await lines()).toEqual(["things_total 1", 'thing_size{name="a",namespace="n",colour="blue"} 1']);
    things.pop();
    expect(await lines()).toEqual(["things_total 0"]);
  });

  it("leave out what says nothing of itself", async () => {
    const { lines } = setUp([thing("a", 0)]);
    expect(await lines()).toEqual(["things_total 1"]);
  });

  it("show a series once that an object names twice, with its last value", async () => {
    const { lines } = setUp([thing("a", 1, "red+blue+red")]);
    expect(await lines()).toEqual([
      "things_total 1",
      'thing_size{name="a",namespace="n",colour="red"} 3',
      'thing_size{name="a",namespace="n",colour="blue"} 2',
    ]);
  });

  it("say nothing before the cache has its first list, not that there is nothing", async () => {
    let hasSynced = false;
    const { lines } = setUp([thing("a", 1)], () => hasSynced);
    expect(await lines()).toEqual([]);
    hasSynced = true;
    expect(await lines()).toEqual(["things_total 1", 'thing_size{name="a",namespace="n",colour=""} 1']);
  });

  it("go on after an object that cannot be measured, and tell of it", async () => {
    const { lines, failures } = setUp([thing("a", 1), thing("bad", -1), thing("c", 3)]);
    expect(await lines()).toEqual([
      "things_total 3",
      'thing_size{name="a",namespace="n",colour=""} 1',
      'thing_size{name="c",namespace="n",colour=""} 3',
    ]);
    expect(failures()).toBe(1);
  });

  it("keep a hostile label on one line and within bounds", async () => {
    const { lines } = setUp([thing("a", 1, `"} 9\nthing_size{name="b"} ${"x".repeat(100_000)}`)]);
    const [, line = "", ...more] = await lines();
    expect(more).toEqual([]);
    expect(line.length).toBeLessThan(700);
    expect(line).toMatch(/^thing_size\{name="a",namespace="n",colour="\\"\} 9\\nthing_size.*"\} 1$/);
  });
});
