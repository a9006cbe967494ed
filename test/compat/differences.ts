import { isJsonObject, type Json } from "./request-script.ts";
import type { Answer } from "./run-subject.ts";

/** One place where two responses differ. `undefined`: missing. */
export interface Difference {
  /** Where: `status`, `contentType`, `warnings[0]`, `body.metadata.labels.a`. */
  readonly path: string;
  readonly real: Json | undefined;
  readonly ours: Json | undefined;
}

/** All places where two normalized responses differ. The order of list items counts, that of keys does not. */
export function differences(real: Answer, ours: Answer): readonly Difference[] {
  return (["status", "contentType", "warnings", "retryAfter", "body"] as const).flatMap((part) =>
    compare(part, real[part], ours[part]),
  );
}

function compare(path: string, real: Json | undefined, ours: Json | undefined): readonly Difference[] {
  if (Array.isArray(real) && Array.isArray(ours)) {
    const length = Math.max(real.length, ours.length);
    return Array.from({ length }, (_, index) => compare(`${path}[${index}]`, real[index], ours[index])).flat();
  }
  if (isJsonObject(real) && isJsonObject(ours)) {
    const keys = [...new Set([...Object.keys(real), ...Object.keys(ours)])].toSorted();
    return keys.flatMap((key) =>
      compare(/^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`, real[key], ours[key]),
    );
  }
  return real === ours ? [] : [{ path, real, ours }];
}

/** One readable line per difference. */
export function describeDifference({ path, real, ours }: Difference): string {
  return `${path}\n    real: ${JSON.stringify(real)}\n    ours: ${JSON.stringify(ours)}`;
}
