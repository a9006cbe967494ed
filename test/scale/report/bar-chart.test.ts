import { describe, expect, it } from "vitest";
import { drawBarChart } from "./bar-chart.ts";

const widthsOf = (svg: string): readonly number[] =>
  [...svg.matchAll(/<rect x="210" y="\d+" width="(?<width>[\d.]+)" height="14"/g)].map(({ groups }) =>
    Number(groups?.["width"]),
  );

describe("a bar chart", () => {
  const bar = (series: string, value: number) => ({ series, value, text: `${value} s` });

  it("has bars in proportion to their values, of one color a series", () => {
    const svg = drawBarChart({
      title: "CPU",
      groups: [
        { name: "create", bars: [bar("ours", 10), bar("theirs", 5)] },
        { name: "roll", bars: [bar("ours", 0)] },
      ],
    });
    const [longest = 0, half = 0, none] = widthsOf(svg);
    expect(longest).toBeGreaterThan(300);
    expect(half).toBeCloseTo(longest / 2, 0);
    expect(none).toBe(0);
    expect(svg).toContain(">10 s</text>");
    // Two bars and one entry of the legend; one of each.
    expect([svg.split('fill="#0072b2"').length - 1, svg.split('fill="#d55e00"').length - 1]).toEqual([3, 2]);
  });

  it("has no legend for one series, and escapes texts", () => {
    const svg = drawBarChart({ title: 'a < "b" & c', groups: [{ name: "<x>", bars: [bar("only", 1)] }] });
    expect(svg).toContain('aria-label="a &lt; &quot;b&quot; &amp; c"');
    expect(svg).toContain("&lt;x&gt;");
    expect(svg).not.toContain("only");
  });

  it("can have nothing but zeros", () => {
    expect(widthsOf(drawBarChart({ title: "", groups: [{ name: "a", bars: [bar("s", 0)] }] }))).toEqual([0]);
  });
});
