import type { Pod } from "./node-objects.ts";

/** Names of the claims of a pod; a generic ephemeral volume has one named after pod and volume. */
export const claimNames = ({ metadata, spec }: Pod): readonly string[] =>
  (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim !== undefined
      ? [persistentVolumeClaim.claimName]
      : ephemeral !== undefined
        ? [`${metadata.name}-${name}`]
        : [],
  );
