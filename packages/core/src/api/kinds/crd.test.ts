import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { StructuralSchema } from "../schema/structural-schema.ts";
import { crds, type CustomResourceDefinition } from "./crd.ts";

const referenceFile = new URL("./testdata/mcm-crd-fields.tsv", import.meta.url);

/** Fields of our CRDs that MCM's do not have. Add new fields here and to docs/project/compatibility/objects.md. */
const additions = [
  "MachineClass\t(column) Provider\t.provider\tstring\tpriority=0",
  "MachineClass\t(column) Type\t.nodeTemplate.instanceType\tstring\tpriority=0",
  "MachineClass\t(column) Age\t.metadata.creationTimestamp\tdate\tpriority=0",
  String.raw`MachineClass	(column) Status	.metadata.annotations.machine\.millwright\.dev/status	string	priority=0`,
  String.raw`MachineClass	(column) Since	.metadata.annotations.machine\.millwright\.dev/status-since	date	priority=1`,
  'MachineDeployment\t(column) Reason\t.status.conditions[?(@.type=="Ready")].reason\tstring\tpriority=0',
  "MachineDeployment\t(column) Class\t.spec.template.spec.class.name\tstring\tpriority=1",
  'MachineDeployment\t(column) Message\t.status.conditions[?(@.type=="Ready")].message\tstring\tpriority=1',
  "MachineDeployment\tstatus.conditions[].observedGeneration\tinteger\t\tformat=int64",
  'Machine\t(column) Reason\t.status.conditions[?(@.type=="MachineReady")].reason\tstring\tpriority=0',
  "Machine\t(column) Class\t.spec.class.name\tstring\tpriority=1",
  String.raw`Machine	(column) Type	.metadata.labels.node\.kubernetes\.io/instance-type	string	priority=1`,
  String.raw`Machine	(column) Zone	.metadata.labels.topology\.kubernetes\.io/zone	string	priority=1`,
  "Machine\t(column) Message\t.status.lastOperation.description\tstring\tpriority=1",
  "Machine\tstatus.history\tarray\t\t",
  "Machine\tstatus.history[]\tobject\t\t",
  "Machine\tstatus.history[].message\tstring\t\t",
  "Machine\tstatus.history[].operation\tstring\t\t",
  "Machine\tstatus.history[].outcome\tstring\t\t",
  "Machine\tstatus.history[].time\tstring\t\tformat=date-time",
  "Machine\tstatus.joinDuration\tstring\t\t",
  "Machine\tstatus.lastOperation.details\tobject\t\t",
  "Machine\tstatus.lastOperation.details.attempts\tobject\t\t",
  "Machine\tstatus.lastOperation.details.attempts.count\tinteger\t\trequired format=int32",
  "Machine\tstatus.lastOperation.details.attempts.firstTime\tstring\t\t",
  "Machine\tstatus.lastOperation.details.attempts.lastTime\tstring\t\t",
  "Machine\tstatus.lastOperation.details.attempts.pauseSeconds\tinteger\t\tformat=int32",
  "Machine\tstatus.lastOperation.details.causes\tarray\t\tx-kubernetes-list-type=atomic",
  "Machine\tstatus.lastOperation.details.causes[]\tobject\t\t",
  "Machine\tstatus.lastOperation.details.causes[].reason\tstring\t\trequired",
  "Machine\tstatus.lastOperation.details.causes[].subject\tstring\t\t",
  "Machine\tstatus.lastOperation.details.code\tstring\t\t",
  "Machine\tstatus.lastOperation.details.deletionHold\tstring\t\t",
  "Machine\tstatus.lastOperation.details.heldBack\tboolean\t\t",
  "Machine\tstatus.lastOperation.details.hold\tstring\t\t",
  "Machine\tstatus.lastOperation.details.message\tstring\t\t",
  "Machine\tstatus.lastOperation.details.nodeName\tstring\t\t",
  "Machine\tstatus.lastOperation.details.otherVolumes\tinteger\t\tformat=int32",
  "Machine\tstatus.lastOperation.details.reason\tstring\t\t",
  "Machine\tstatus.lastOperation.details.stage\tstring\t\t",
  "Machine\tstatus.lastOperation.details.time\tstring\t\tformat=date-time",
  "Machine\tstatus.lastOperation.details.unreachableNode\tstring\t\t",
  "Machine\tstatus.lastOperation.details.volumes\tarray\t\tx-kubernetes-list-type=atomic",
  "Machine\tstatus.lastOperation.details.volumes[]\tstring\t\t",
  "Machine\tstatus.lastOperation.details.zone\tstring\t\t",
  'MachineSet\t(column) Reason\t.status.machineSetCondition[?(@.type=="Ready")].reason\tstring\tpriority=0',
  "MachineSet\t(column) Class\t.spec.template.spec.class.name\tstring\tpriority=1",
  'MachineSet\t(column) Message\t.status.machineSetCondition[?(@.type=="Ready")].message\tstring\tpriority=1',
  "MachineSet\tstatus.machineSetCondition[].observedGeneration\tinteger\t\tformat=int64",
];

const plainTypes = ["object", "array", "string", "integer", "boolean"];

describe("crds", () => {
  it("has every field, type, remark, column, name and subresource of MCM's definitions", () => {
    const ours = new Set(crds().flatMap(factsOf));
    expect(referenceFacts().filter((fact) => !ours.has(fact))).toEqual([]);
  });

  it("has nothing beyond MCM's definitions but the listed additions", () => {
    const reference = new Set(referenceFacts());
    const beyond = crds()
      .flatMap(factsOf)
      .filter((fact) => !reference.has(fact));
    expect(beyond).toEqual(additions);
  });

  it("has MCM's columns first and in MCM's order, so that scripts find them where they were", () => {
    const reference = referenceFacts().filter((fact) => fact.includes("(column)"));
    for (const crd of crds()) {
      const columns = factsOf(crd).filter((fact) => fact.includes("(column)"));
      const ofMcm = reference.filter((fact) => fact.startsWith(`${crd.spec.names.kind}\t`));
      expect(columns.slice(0, ofMcm.length)).toEqual(ofMcm);
    }
  });

  it("puts the four kinds into one category", () => {
    expect(crds().map(({ spec }) => spec.names.categories)).toEqual([
      ["millwright"],
      ["millwright"],
      ["millwright"],
      ["millwright"],
    ]);
  });

  it("describes every field", () => {
    const bare = crds().flatMap((crd) =>
      walk(schemaOf(crd), "")
        .filter(({ path, schema }) => path !== "" && !/[\]}]$|^metadata$/.test(path) && !schema.description)
        .map(({ path }) => `${crd.spec.names.kind} ${path}`),
    );
    expect(bare).toEqual([]);
  });

  it("is structural: no reference, default, range or closed set, and no anyOf but int-or-string", () => {
    for (const { schema } of crds().flatMap((crd) => walk(schemaOf(crd), ""))) {
      for (const key of [
        "$ref",
        "$schema",
        "default",
        "enum",
        "minimum",
        "maximum",
        "oneOf",
        "allOf",
        "not",
        "nullable",
      ]) {
        expect(schema).not.toHaveProperty(key);
      }
      const { anyOf, type } = schema;
      const expected = schema["x-kubernetes-int-or-string"]
        ? { anyOf: [{ type: "integer" }, { type: "string" }], type: undefined }
        : { anyOf: undefined, type: plainTypes.find((each) => each === type) ?? "a plain type" };
      expect({ anyOf, type }).toEqual(expected);
      expect(schema.properties !== undefined && schema.additionalProperties !== undefined).toBe(false);
    }
  });

  it("accepts quantities as whole numbers and as text", () => {
    const capacity = schemaAt("MachineClass", "nodeTemplate.capacity{*}");
    expect(capacity).toMatchObject({ "x-kubernetes-int-or-string": true, pattern: expect.stringContaining("KMGTPE") });
  });

  it("gives the same text each time", () => {
    expect(JSON.stringify(crds())).toBe(JSON.stringify(crds()));
    expect(crds().map((crd) => crd.metadata.name)).toEqual([
      "machineclasses.machine.sapcloud.io",
      "machinedeployments.machine.sapcloud.io",
      "machines.machine.sapcloud.io",
      "machinesets.machine.sapcloud.io",
    ]);
  });
});

function referenceFacts(): string[] {
  return readFileSync(referenceFile, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

function schemaOf(crd: CustomResourceDefinition): StructuralSchema {
  const [version] = crd.spec.versions;
  if (!version) throw new Error("a definition has one version");
  return version.schema.openAPIV3Schema;
}

function schemaAt(kind: string, path: string): StructuralSchema | undefined {
  const crd = crds().find((each) => each.spec.names.kind === kind);
  return crd && walk(schemaOf(crd), "").find((each) => each.path === path)?.schema;
}

interface Place {
  readonly path: string;
  readonly schema: StructuralSchema;
  readonly required: boolean;
}

/** Every schema below and including one, with its path in the notation of the reference file. */
function walk(schema: StructuralSchema, path: string, required = false): Place[] {
  const places: Place[] = [{ path, schema, required }];
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const isRequired = schema.required?.includes(name) ?? false;
    places.push(...walk(field, path === "" ? name : `${path}.${name}`, isRequired));
  }
  if (schema.items) places.push(...walk(schema.items, `${path}[]`));
  if (schema.additionalProperties) places.push(...walk(schema.additionalProperties, `${path}{*}`));
  return places;
}

/** The lines of the reference file that a definition amounts to. */
function factsOf(crd: CustomResourceDefinition): string[] {
  const { names, scope, versions } = crd.spec;
  const [version] = versions;
  if (!version) return [];
  const scale = version.subresources.scale;
  const subresources = [
    ...(scale
      ? [
          `'scale': {'specReplicasPath': '${scale.specReplicasPath}', 'statusReplicasPath': '${scale.statusReplicasPath}'}`,
        ]
      : []),
    ...(version.subresources.status ? ["'status': {}"] : []),
  ].join(", ");
  const head = `plural=${names.plural} singular=${names.singular} short=${names.shortNames.join(",")} scope=${scope} version=${version.name} subresources={${subresources}}`;
  const columns = (version.additionalPrinterColumns ?? []).map((column) =>
    line(names.kind, `(column) ${column.name}`, column.jsonPath, column.type, `priority=${column.priority ?? 0}`),
  );
  const fields = walk(schemaOf(crd), "")
    .filter(({ path }) => path !== "")
    .map(({ path, schema, required }) =>
      line(names.kind, path, typeOf(path, schema), "", remarksOf(path, schema, required)),
    );
  return [line(names.kind, "(names)", head, "", ""), ...columns, ...fields];
}

function typeOf(path: string, schema: StructuralSchema): string {
  if (path.endsWith("{*}") && schema["x-kubernetes-int-or-string"]) return "";
  return schema["x-kubernetes-int-or-string"] ? "int-or-string" : (schema.type ?? "");
}

/** The reference file leaves the remarks of map values out. */
function remarksOf(path: string, schema: StructuralSchema, required: boolean): string {
  if (path.endsWith("{*}")) return "";
  return [
    ...(required ? ["required"] : []),
    ...(schema.format ? [`format=${schema.format}`] : []),
    ...(schema["x-kubernetes-int-or-string"] ? ["x-kubernetes-int-or-string=True"] : []),
    ...(schema["x-kubernetes-preserve-unknown-fields"] ? ["x-kubernetes-preserve-unknown-fields=True"] : []),
    ...(schema["x-kubernetes-list-type"] ? [`x-kubernetes-list-type=${schema["x-kubernetes-list-type"]}`] : []),
    ...(schema["x-kubernetes-map-type"] ? [`x-kubernetes-map-type=${schema["x-kubernetes-map-type"]}`] : []),
  ].join(" ");
}

function line(...cells: string[]): string {
  return cells.join("\t");
}
