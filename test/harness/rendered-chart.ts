import { parseAllDocuments } from "yaml";
import * as z from "zod";
import { chart } from "./chart.ts";
import type { ForeignTool } from "./foreign-tools.ts";

const labels = z.record(z.string(), z.string());
const object = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    labels: labels.optional(),
    annotations: labels.optional(),
  }),
  spec: z.unknown().optional(),
});

/** An object that Helm rendered. */
export type RenderedObject = z.infer<typeof object>;

const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).default([]),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
  securityContext: z.looseObject({}).default({}),
});
const podSpec = z.looseObject({
  securityContext: z.looseObject({}).default({}),
  containers: z.array(container).min(1),
  initContainers: z.array(container).default([]),
  volumes: z.array(z.looseObject({ name: z.string() })).default([]),
  affinity: z
    .looseObject({
      nodeAffinity: z
        .looseObject({
          preferredDuringSchedulingIgnoredDuringExecution: z
            .array(z.looseObject({ preference: z.looseObject({ matchExpressions: z.unknown() }) }))
            .optional(),
        })
        .optional(),
    })
    .optional(),
});

/** The pods of the Deployment. */
export type RenderedPod = z.infer<typeof podSpec>;
/** A container of them. */
export type RenderedContainer = z.infer<typeof container>;

const deployment = z.object({
  template: z.object({ metadata: z.looseObject({ labels }), spec: podSpec }),
});

/** What a release named `millwright` would create. Throws for an object that has a key twice: kustomize refuses it. */
export async function renderChart(helm: ForeignTool, args: readonly string[]) {
  const text = await helm(["template", "millwright", chart, ...args]);
  const objects = parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const value: unknown = document.toJS();
    return value === null ? [] : [object.parse(value)];
  });
  const find = (kind: string, name?: string): RenderedObject => {
    const found = objects.find((each) => each.kind === kind && (name === undefined || each.metadata.name === name));
    if (found === undefined) throw new Error(`no ${kind} ${name ?? ""} in ${text}`);
    return found;
  };
  const template = () => deployment.parse(find("Deployment").spec).template;
  const pod = Object.assign((): RenderedPod => template().spec, { labels: () => template().metadata.labels });
  const container = (name = "millwright"): RenderedContainer => {
    const found = pod().containers.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no container ${name} in ${text}`);
    return found;
  };
  return { text, objects, find, pod, container };
}
