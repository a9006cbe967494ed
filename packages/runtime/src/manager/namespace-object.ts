/** What events about a namespace refer to. With its own name as namespace, so that the event is stored in it, where rights are needed anyway. */
export const namespaceObject = (name: string) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, namespace: name },
});
