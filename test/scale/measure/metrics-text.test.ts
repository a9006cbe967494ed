import { describe, expect, it } from "vitest";
import { bucketsBy, parseMetrics, sumBy } from "./metrics-text.ts";

describe("metrics in Prometheus' text format", () => {
  it("are read with escaped labels, without comments", () => {
    const text = '# HELP a x\n# TYPE a counter\na 1\na{b="c \\"d\\" \\\\ \\n",e="f}g"} 2.5e3 1700000000\n\nbroken\n';
    expect(parseMetrics(text)).toEqual([
      { name: "a", labels: {}, value: 1 },
      { name: "a", labels: { b: 'c "d" \\ \n', e: "f}g" }, value: 2500 },
    ]);
  });

  it("are added up by a label", () => {
    const samples = parseMetrics('x{v="a",c="1"} 1\nx{v="a",c="2"} 2\nx{v="b"} 4\ny{v="a"} 8\n');
    expect([...sumBy(samples, "x", "v")]).toEqual([
      ["a", 3],
      ["b", 4],
    ]);
  });

  it("have buckets in ascending order, whatever the order of the lines", () => {
    const samples = parseMetrics(
      'h_bucket{n="q",le="+Inf"} 3\nh_bucket{n="q",le="0.5"} 2\nh_bucket{n="q",le="0.05"} 1\nh_sum{n="q"} 9\n',
    );
    expect([...bucketsBy(samples, "h", "n")]).toEqual([
      [
        "q",
        [
          [0.05, 1],
          [0.5, 2],
          [Number.POSITIVE_INFINITY, 3],
        ],
      ],
    ]);
  });
});
