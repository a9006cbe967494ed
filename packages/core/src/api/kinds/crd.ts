import { annotationKeys } from "../../wire/annotations.ts";
import { labelKeys } from "../../wire/labels.ts";
import { storedMachineConditionTypes, summaryConditionTypes } from "../../wire/condition-types.ts";
import type * as z from "zod";
import type { ResourceType } from "@millwright/base";
import { structuralSchemaOf, type StructuralSchema } from "../schema/structural-schema.ts";
import { machineClassResource, machineClassSchema } from "./machine-class.ts";
import { machineDeploymentResource, machineDeploymentSchema } from "./machine-deployment.ts";
import { machineSetResource, machineSetSchema } from "./machine-set.ts";
import { machineResource, machineSchema } from "./machine.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date";
  readonly description: string;
  /** Path in the object. */
  readonly jsonPath: string;
  /** Greater than zero: only with `-o wide`. */
  readonly priority?: number;
}

/** Subresources of a kind. */
export interface Subresources {
  readonly status?: Readonly<Record<string, never>>;
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string };
}

/** A CustomResourceDefinition of `apiextensions.k8s.io/v1`, plain JSON. */
export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly shortNames: readonly string[];
      readonly singular: string;
      /** What `kubectl get` takes for all kinds at once. */
      readonly categories: readonly string[];
    };
    readonly scope: "Namespaced";
    readonly versions: readonly {
      readonly name: string;
      readonly served: true;
      readonly storage: true;
      readonly additionalPrinterColumns?: readonly PrinterColumn[];
      readonly schema: { readonly openAPIV3Schema: StructuralSchema };
      readonly subresources: Subresources;
    }[];
  };
}

interface KindDefinition {
  readonly resource: Required<ResourceType>;
  readonly schema: z.ZodObject;
  readonly columns: readonly PrinterColumn[];
  readonly subresources: Subresources;
}

const age: PrinterColumn = {
  name: "Age",
  type: "date",
  description: "Time since creation.",
  jsonPath: ".metadata.creationTimestamp",
};

/** As in MCM: there is no labelSelectorPath, so `kubectl scale` works and autoscaling by selector does not. */
const scalable: Subresources = {
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
  status: {},
};

function count(name: string, jsonPath: string, description: string): PrinterColumn {
  return { name, type: "integer", description, jsonPath };
}

const classOf = (jsonPath: string, description: string): PrinterColumn => ({
  name: "Class",
  type: "string",
  description,
  jsonPath,
  priority: 1,
});
const templateClass = classOf(".spec.template.spec.class.name", "Class of new machines.");

/** Both are of one condition, as a path of a column has no second choice. */
const summaryColumns = (list: string): readonly [reason: PrinterColumn, message: PrinterColumn] => {
  const of = (field: string): string => `.status.${list}[?(@.type=="${summaryConditionTypes.ready}")].${field}`;
  return [
    {
      name: "Reason",
      type: "string",
      description: "Why the machines are not as desired; Ready when they are.",
      jsonPath: of("reason"),
    },
    {
      name: "Message",
      type: "string",
      description: "The same in a sentence; what a person has to do, if that is the case.",
      jsonPath: of("message"),
      priority: 1,
    },
  ];
};
const [deploymentReason, deploymentMessage] = summaryColumns("conditions");
const [setReason, setMessage] = summaryColumns("machineSetCondition");

/** Dots in a key are no parts of a path. */
const escaped = (key: string): string => key.replaceAll(".", String.raw`\.`);
const annotationPath = (key: string): string => `.metadata.annotations.${escaped(key)}`;
const labelPath = (key: string): string => `.metadata.labels.${escaped(key)}`;

/** Category of the four kinds: `kubectl get millwright`. */
const categories = ["millwright"];

/**
 * Source of subresources and columns: MCM, `kubernetes/crds`. Ours come behind MCM's, so that scripts find those where they were: `Reason`, `Class`, `Type`, `Zone`, `Message`
 * and the columns of classes.
 */
const definitions: readonly KindDefinition[] = [
  {
    resource: machineClassResource,
    schema: machineClassSchema,
    columns: [
      { name: "Provider", type: "string", description: "Driver of the class.", jsonPath: ".provider" },
      { name: "Type", type: "string", description: "Type of its VMs.", jsonPath: ".nodeTemplate.instanceType" },
      age,
      {
        name: "Status",
        type: "string",
        description: "Whether VMs can be created from it now: Ready, or why not.",
        jsonPath: annotationPath(annotationKeys.classStatus),
      },
      {
        name: "Since",
        type: "date",
        description: "Time since the status changed.",
        jsonPath: annotationPath(annotationKeys.classStatusSince),
        priority: 1,
      },
    ],
    subresources: {},
  },
  {
    resource: machineDeploymentResource,
    schema: machineDeploymentSchema,
    columns: [
      count("Ready", ".status.readyReplicas", "Machines in phase Running."),
      count("Desired", ".spec.replicas", "Desired number of machines."),
      count("Up-to-date", ".status.updatedReplicas", "Machines of the current template."),
      count("Available", ".status.availableReplicas", "Machines in phase Available or Running."),
      age,
      deploymentReason,
      templateClass,
      deploymentMessage,
    ],
    subresources: scalable,
  },
  {
    resource: machineResource,
    schema: machineSchema,
    columns: [
      { name: "Status", type: "string", description: "Phase of the machine.", jsonPath: ".status.currentStatus.phase" },
      age,
      { name: "Node", type: "string", description: "Node of the machine.", jsonPath: ".metadata.labels.node" },
      { name: "ProviderID", type: "string", description: "Id of the VM.", jsonPath: ".spec.providerID", priority: 1 },
      {
        name: "Reason",
        type: "string",
        description: "Why the machine is ready or not.",
        jsonPath: `.status.conditions[?(@.type=="${storedMachineConditionTypes.machineReady}")].reason`,
      },
      classOf(".spec.class.name", "Class of the machine."),
      {
        name: "Type",
        type: "string",
        description: "Instance type of the VM.",
        jsonPath: labelPath(labelKeys.instanceType),
        priority: 1,
      },
      {
        name: "Zone",
        type: "string",
        description: "Zone of the VM.",
        jsonPath: labelPath(labelKeys.zone),
        priority: 1,
      },
      {
        name: "Message",
        type: "string",
        description: "What was done last, and what it waits for.",
        jsonPath: ".status.lastOperation.description",
        priority: 1,
      },
    ],
    subresources: { status: {} },
  },
  {
    resource: machineSetResource,
    schema: machineSetSchema,
    columns: [
      count("Desired", ".spec.replicas", "Desired number of machines."),
      count("Current", ".status.replicas", "Current number of machines."),
      count("Ready", ".status.readyReplicas", "Machines in phase Running."),
      age,
      setReason,
      templateClass,
      setMessage,
    ],
    subresources: scalable,
  },
];

/**
 * The CustomResourceDefinitions of the four kinds, in alphabetical order of kind and with a fixed order of keys, so that two
 * calls give the same text. They accept everything that MCM's accept, and on top `observedGeneration` of condition entries and `history` and
 * `joinDuration` of machines.
 */
export function crds(): readonly CustomResourceDefinition[] {
  return definitions.map(crdOf);
}

function crdOf({ resource, schema, columns, subresources }: KindDefinition): CustomResourceDefinition {
  const { group, version, kind, plural, singular, shortNames } = resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, shortNames, singular, categories },
      scope: "Namespaced",
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(columns.length > 0 && { additionalPrinterColumns: columns }),
          schema: { openAPIV3Schema: structuralSchemaOf(schema) },
          subresources,
        },
      ],
    },
  };
}
