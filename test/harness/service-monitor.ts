import * as z from "zod";
import type { ForeignTool } from "./foreign-tools.ts";

const group = "monitoring.coreos.com";

/** The kinds of the Prometheus Operator that the chart creates, without their fields. */
const operatorKinds = { ServiceMonitor: "servicemonitors", PrometheusRule: "prometheusrules" } as const;

/** Creates CustomResourceDefinitions for the kinds of the Prometheus Operator, whose controller is not there. */
export async function createOperatorKinds(kubectl: ForeignTool): Promise<void> {
  const items = Object.entries(operatorKinds).map(([kind, plural]) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  }));
  await kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  await kubectl(["wait", "--for=condition=Established", ...items.map(({ metadata }) => `crd/${metadata.name}`)]);
}

const labels = z.record(z.string(), z.string());
const monitorSchema = z.object({
  spec: z.object({
    selector: z.object({ matchLabels: labels }),
    endpoints: z
      .array(z.object({ port: z.string(), path: z.string(), honorLabels: z.boolean().default(false) }))
      .min(1),
  }),
});
const serviceSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), namespace: z.string() }),
      spec: z.object({
        selector: labels,
        ports: z.array(z.object({ name: z.string(), targetPort: z.union([z.string(), z.number()]) })),
      }),
    }),
  ),
});
const deploymentSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({
        template: z.object({
          spec: z.object({
            containers: z.array(
              z.object({
                name: z.string(),
                ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
              }),
            ),
          }),
        }),
      }),
    }),
  ),
});

const selectorOf = (matchLabels: Readonly<Record<string, string>>): string =>
  Object.entries(matchLabels)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");

/**
 * The scrape configuration that the Prometheus Operator generates for a ServiceMonitor: each pod behind each Service that it selects, with labels for where the pod is. `addresses`
 * are where the pods would be reached, as none runs here; scrapes are more frequent than the ServiceMonitor has them.
 *
 * @throws Error when the ServiceMonitor selects no Service, or the Service no port of a Deployment
 */
export async function scrapesOfMonitor(
  kubectl: ForeignTool,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  addresses: readonly string[],
): Promise<readonly object[]> {
  const read = async (...what: readonly string[]): Promise<unknown> =>
    JSON.parse(await kubectl(["-n", namespace, "get", ...what, "-o", "json"]));
  const { selector, endpoints } = monitorSchema.parse(await read(`servicemonitor/${name}`)).spec;
  const services = serviceSchema.parse(await read("services", "-l", selectorOf(selector.matchLabels))).items;
  const scrapes: object[] = [];
  for (const service of services)
    for (const { port, path, honorLabels } of endpoints) {
      const target = service.spec.ports.find((each) => each.name === port)?.targetPort;
      const pods = deploymentSchema.parse(await read("deployments", "-l", selectorOf(service.spec.selector))).items;
      for (const { metadata, spec } of pods)
        for (const container of spec.template.spec.containers) {
          if (!container.ports.some((each) => each.name === target || each.containerPort === target)) continue;
          scrapes.push({
            job_name: `serviceMonitor/${namespace}/${name}/${scrapes.length}`,
            metrics_path: path,
            honor_labels: honorLabels,
            static_configs: addresses.map((address, index) => ({
              targets: [address],
              labels: {
                job: service.metadata.name,
                namespace: service.metadata.namespace,
                service: service.metadata.name,
                pod: `${metadata.name}-${index}`,
                container: container.name,
                endpoint: port,
              },
            })),
          });
        }
    }
  if (scrapes.length === 0) throw new Error(`ServiceMonitor ${namespace}/${name} selects no port of a pod`);
  return scrapes;
}
