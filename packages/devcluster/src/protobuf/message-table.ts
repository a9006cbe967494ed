import { message, type MessageType } from "./message-notation.ts";
import { workloadMessages } from "./workload-messages.ts";

/**
 * The messages that Kubernetes clients send as protobuf for the kinds of this server, by field number.
 * Source: the `generated.proto` files of k8s.io/api and k8s.io/apimachinery.
 */
export const messages: Readonly<Record<string, MessageType>> = {
  ...workloadMessages,
  ObjectMeta: message(
    "name generateName namespace selfLink uid resourceVersion generation:int? creationTimestamp:Time deletionTimestamp:Time " +
      "deletionGracePeriodSeconds:int labels:string{} annotations:string{} ownerReferences:OwnerReference[] finalizers:string[]",
  ),
  OwnerReference: message("kind - name uid apiVersion controller:bool blockOwnerDeletion:bool"),
  ObjectReference: message("kind namespace name uid apiVersion resourceVersion fieldPath"),
  LocalObjectReference: message("name"),
  LabelSelector: message("matchLabels:string{} matchExpressions:LabelSelectorRequirement[]"),
  LabelSelectorRequirement: message("key operator values:string[]"),
  Preconditions: message("uid resourceVersion"),
  "v1.DeleteOptions": message(
    "gracePeriodSeconds:int preconditions:Preconditions orphanDependents:bool propagationPolicy dryRun:string[]",
  ),
  "v1.Namespace": message("metadata:ObjectMeta spec:NamespaceSpec status:NamespaceStatus"),
  NamespaceSpec: message("finalizers:string[]"),
  NamespaceStatus: message("phase"),
  "v1.ConfigMap": message("metadata:ObjectMeta data:string{} binaryData:bytes{} immutable:bool"),
  "v1.Secret": message("metadata:ObjectMeta data:bytes{} type stringData:string{} immutable:bool"),
  "v1.ServiceAccount": message(
    "metadata:ObjectMeta secrets:ObjectReference[] imagePullSecrets:LocalObjectReference[] automountServiceAccountToken:bool",
  ),
  "v1.Event": message(
    "metadata:ObjectMeta involvedObject:ObjectReference reason message source:EventSource firstTimestamp:Time lastTimestamp:Time " +
      "count:int type eventTime:MicroTime series:EventSeries action related:ObjectReference reportingComponent reportingInstance",
  ),
  EventSource: message("component host"),
  EventSeries: message("count:int lastObservedTime:MicroTime"),
  "policy/v1.Eviction": message("metadata:ObjectMeta deleteOptions:v1.DeleteOptions"),
  "policy/v1.PodDisruptionBudget": message("metadata:ObjectMeta spec:PodDisruptionBudgetSpec"),
  PodDisruptionBudgetSpec: message(
    "minAvailable:IntOrString selector:LabelSelector maxUnavailable:IntOrString unhealthyPodEvictionPolicy",
  ),
  "coordination.k8s.io/v1.Lease": message("metadata:ObjectMeta spec:LeaseSpec"),
  LeaseSpec: message(
    "holderIdentity leaseDurationSeconds:int acquireTime:MicroTime renewTime:MicroTime leaseTransitions:int strategy preferredHolder",
  ),
  "authorization.k8s.io/v1.SelfSubjectAccessReview": message("metadata:ObjectMeta spec:SelfSubjectAccessReviewSpec"),
  SelfSubjectAccessReviewSpec: message(
    "resourceAttributes:ResourceAttributes nonResourceAttributes:NonResourceAttributes",
  ),
  ResourceAttributes: message("namespace verb group version resource subresource name"),
  NonResourceAttributes: message("path verb"),
  "authorization.k8s.io/v1.SelfSubjectRulesReview": message("metadata:ObjectMeta spec:SelfSubjectRulesReviewSpec"),
  SelfSubjectRulesReviewSpec: message("namespace"),
  "authentication.k8s.io/v1.SelfSubjectReview": message("metadata:ObjectMeta"),
};
