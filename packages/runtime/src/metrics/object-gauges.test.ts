import { describe, expect, it } from "vitest";
import { objectLines } from "../testing/measured.ts";
import { type ObjectMetrics, writeObjectMetrics } from "./object-gauges.ts";

interface Thing {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly size: number;
  readonly color?: string;
}

function setUp(things: Thing[], hasSynced = () => true) {
  let failures = 0;
  const metrics: ObjectMetrics<Thing> = {
    cache: { hasSynced, store: { list: () => [...things] } },
    items: { name: "things_total", help: "Things." },
    gauges: [
      {
        name: "thing_size",
        help: "Sizes.",
        labels: ["color"],
        samples({ size, color }) {
          if (size < 0) throw new RangeError("no size");
          return size === 0 ? [] : (color ?? "").split("+").map((part, at) => ({ value: size + at, labels: [part] }));
        },
      },
    ],
    onFailure: () => void (failures += 1),
  };
  return { metrics, lines: () => objectLines(metrics), failures: () => failures };
}
const thing = (name: string, size: number, color?: string): Thing => ({
  metadata: { name, namespace: "n" },
  size,
  ...(color === undefined ? {} : { color }),
});

describe("gauges of objects", () => {
  it("show what is in the cache when they are read, and nothing of what was deleted or changed its labels", () => {
    const things = [thing("a", 1, "red"), thing("b", 2)];
    const { lines } = setUp(things);
    expect(lines()).toEqual([
      "things_total 2",
      'thing_size{name="a",namespace="n",color="red"} 1',
      'thing_size{name="b",namespace="n",color=""} 2',
    ]);
    things.splice(0, 2, thing("a", 1, "blue"));
    expect(lines()).toEqual(["things_total 1", 'thing_size{name="a",namespace="n",color="blue"} 1']);
    things.pop();
    expect(lines()).toEqual(["things_total 0"]);
  });

  it("leave out objects without values", () => {
    const { lines } = setUp([thing("a", 0)]);
    expect(lines()).toEqual(["things_total 1"]);
  });

  it("show a series once that an object names twice, with its last value", () => {
    const { lines } = setUp([thing("a", 1, "red+blue+red")]);
    expect(lines()).toEqual([
      "things_total 1",
      'thing_size{name="a",namespace="n",color="red"} 3',
      'thing_size{name="a",namespace="n",color="blue"} 2',
    ]);
  });

  it("are absent, not 0, before the cache has its first list", () => {
    let hasSynced = false;
    const { lines } = setUp([thing("a", 1)], () => hasSynced);
    expect(lines()).toEqual([]);
    hasSynced = true;
    expect(lines()).toEqual(["things_total 1", 'thing_size{name="a",namespace="n",color=""} 1']);
  });

  it("continue after an object that cannot be measured, and report it", () => {
    const { lines, failures } = setUp([thing("a", 1), thing("bad", -1), thing("c", 3)]);
    expect(lines()).toEqual([
      "things_total 3",
      'thing_size{name="a",namespace="n",color=""} 1',
      'thing_size{name="c",namespace="n",color=""} 3',
    ]);
    expect(failures()).toBe(1);
  });

  it("keep a hostile label on one line and within bounds", () => {
    const { lines } = setUp([thing("a", 1, `"} 9\nthing_size{name="b"} ${"x".repeat(100_000)}`)]);
    const [, line = "", ...more] = lines();
    expect(more).toEqual([]);
    expect(line.length).toBeLessThan(700);
    expect(line).toMatch(/^thing_size\{name="a",namespace="n",color="\\"\} 9\uFFFDthing_size.*"\} 1$/);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "show no value %d, and report it",
    (size) => {
      const { lines, failures } = setUp([thing("a", size), thing("b", 2)]);
      expect(lines()).toEqual(["things_total 2", 'thing_size{name="b",namespace="n",color=""} 2']);
      expect(failures()).toBe(1);
    },
  );

  it("show so many of a list as people read", () => {
    const { lines } = setUp([thing("a", 1, Array.from({ length: 5_000 }, (_, at) => `color ${at}`).join("+"))]);
    expect(lines()).toHaveLength(1 + 1_000);
  });

  it("are all of one moment, however long their reading takes", () => {
    const things = [thing("a", 1), thing("b", 2)];
    const { metrics } = setUp(things);
    let text = "";
    for (const piece of writeObjectMetrics(metrics)) {
      text += piece;
      things.splice(0);
    }
    expect(text).toBe(`# HELP things_total Things.
# TYPE things_total gauge
things_total 2
# HELP thing_size Sizes.
# TYPE thing_size gauge
thing_size{name="a",namespace="n",color=""} 1
thing_size{name="b",namespace="n",color=""} 2
`);
  });
});
