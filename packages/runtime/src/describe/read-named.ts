import { ConfigError, type ResourceType } from "@millwright/base";
import { formatProblems, type ReadResult } from "@millwright/core/machine-api";
import { type ApiClient, isNotFound } from "@millwright/kube";

/** Which object is described, and where it is read. */
export interface NamedObject {
  /** The cluster in which machines are declared. */
  readonly control: Pick<ApiClient, "get" | "list" | "serverTime">;
  readonly namespace: string;
  readonly name: string;
  readonly signal?: AbortSignal;
}

/**
 * Reads one object.
 *
 * @throws ConfigError when there is none of that name, or none that can be read
 */
export async function readNamed<T>(
  { control, namespace, name, signal }: NamedObject,
  type: ResourceType,
  read: (raw: unknown) => ReadResult<T>,
): Promise<T> {
  try {
    const raw = await control.get(type, { namespace, name }, signal === undefined ? {} : { signal });
    const result = read(raw);
    if (result.ok) return result.value;
    throw new ConfigError(`${type.kind} "${name}" cannot be read: ${formatProblems(result.problems)}`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ConfigError(
      `there is no ${type.kind} "${name}" in namespace ${namespace}; "kubectl get ${type.plural} -A" lists all of them`,
      { cause: error },
    );
  }
}
