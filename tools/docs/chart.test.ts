import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as core from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { chartValues } from "./chart-values.ts";
import { root } from "./document-pages.ts";
import { metricNames } from "./metric-names.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const chart = "charts/millwright";
const runbooks = "https://github.com/millwright-dev/millwright/blob/main/docs/operations/alerts.md";

/** Metrics, and the series of histograms. */
const metrics = new Set(metricNames.flatMap((name) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]));
const namesIn = (text: string): readonly string[] =>
  text.match(
    /\b(?:mcm|millwright|workqueue|controller_runtime|rest_client|process|nodejs|leader_election)_[a-z_0-9]+/g,
  ) ?? [];

describe("the Helm chart", () => {
  it("has the version of the packages", () => {
    const { version } = JSON.parse(read("packages/cli/package.json"));
    expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
  });

  it("has a meaning and a schema for every value", () => {
    const schema = JSON.parse(read(`${chart}/values.schema.json`));
    const values = chartValues(read(`${chart}/values.yaml`));
    expect(values.length).toBeGreaterThan(30);
    for (const { key, meaning } of values) {
      expect(meaning, key).toMatch(/\w.*\.$/);
      const found = key.split(".").reduce<unknown>((node, name) => {
        const { $ref, properties } = Object(node);
        const target =
          typeof $ref === "string" ? schema.definitions[$ref.replace("#/definitions/", "")].properties : properties;
        return Object(target)[name];
      }, schema);
      expect(found, key).toBeDefined();
    }
  });

  it("has alerts on metrics that exist, each with a runbook", () => {
    const { groups } = parse(read(`${chart}/files/alerts.yaml`));
    const page = read("docs/operations/alerts.md");
    const alerts: { alert: string; expr: string; annotations: Record<string, string> }[] = groups[0].rules;
    expect(alerts.length).toBeGreaterThan(10);
    for (const { alert, expr, annotations } of alerts) {
      expect(
        namesIn(expr).filter((name) => !metrics.has(name)),
        alert,
      ).toEqual([]);
      expect(namesIn(expr), alert).not.toEqual([]);
      expect(annotations["runbook_url"], alert).toBe(`${runbooks}#${alert.toLowerCase()}`);
      expect(page, alert).toContain(`\n## ${alert}\n`);
    }
    expect(page.match(/^## /gm)).toHaveLength(alerts.length);
  });

  it("has an alert for every metric whose description asks for one", () => {
    const described = read("packages/core/src/wire/metric-names.ts").matchAll(
      /\/\*\* ([^*]*Alert on[^*]*) \*\/\n\s+(\w+):/g,
    );
    const own: Readonly<Record<string, string>> = core.ownMetricNames;
    const wanted = [...described].map(([, , entry = ""]) => own[entry]);
    expect(wanted.length).toBeGreaterThan(5);
    const used = new Set(namesIn(read(`${chart}/files/alerts.yaml`)).map((name) => name.replace(/_count$/, "")));
    expect(wanted.filter((name) => name === undefined || !used.has(name))).toEqual([]);
  });

  it("has no metrics with labels that Thanos, Mimir or a remote write add", () => {
    const described = read("packages/core/src/wire/metric-names.ts");
    const labels = [...described.matchAll(/labels? ((?:`\w+`(?: \([^)]*\))?(?:, | and )?)+)/g)].flatMap(
      ([, list = ""]) => [...list.replaceAll(/\([^)]*\)/g, "").matchAll(/`(\w+)`/g)].map(([, label]) => label),
    );
    expect(new Set(labels).size).toBeGreaterThan(10);
    const added = ["cluster", "prometheus", "prometheus_replica", "replica", "tenant"];
    expect(labels.filter((label = "") => added.includes(label))).toEqual([]);
  });

  it("has a dashboard on metrics that exist", () => {
    const text = read(`${chart}/files/dashboard.json`);
    expect(namesIn(text).filter((name) => !metrics.has(name))).toEqual([]);
    const { panels } = JSON.parse(text);
    expect(panels.length).toBeGreaterThan(10);
  });

  it("has the CustomResourceDefinitions of this version", () => {
    const files = core.crds().map(({ spec }) => read(`${chart}/crds/${spec.names.plural}.yaml`));
    expect(files.flatMap((text) => parseAllDocuments(text).map((document) => document.toJSON()))).toEqual(
      structuredClone(core.crds()),
    );
  });
});
