import { type Clock, ConfigError, crds, isRecord } from "@millwright/core";
import { type ApiClient, customResourceDefinitionResource, type KubeObject } from "@millwright/kube";

/** How long the API server may take to serve a new kind, milliseconds. */
const PATIENCE_MS = 10_000;

const isEstablished = (crd: KubeObject): boolean => {
  const status = crd["status"];
  const conditions: readonly unknown[] =
    isRecord(status) && Array.isArray(status["conditions"]) ? status["conditions"] : [];
  return conditions.some(
    (condition) => isRecord(condition) && condition["type"] === "Established" && condition["status"] === "True",
  );
};

/** Applies our CustomResourceDefinitions and waits until the API server serves all of them. */
export async function installCrds(api: ApiClient, clock: Clock, signal: AbortSignal): Promise<void> {
  const started = clock.monotonicMs();
  for (const crd of crds()) {
    const ref = { name: crd.metadata.name };
    await api.patch(customResourceDefinitionResource, ref, crd, {
      kind: "apply",
      fieldManager: "millwright-dev",
      force: true,
      signal,
    });
    while (!isEstablished(await api.get(customResourceDefinitionResource, ref, { signal }))) {
      if (clock.monotonicMs() - started > PATIENCE_MS)
        throw new ConfigError(`CustomResourceDefinition ${ref.name} was not established within 10 s`);
      await clock.sleep(50, signal);
    }
  }
}
