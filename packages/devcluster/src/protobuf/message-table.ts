import { type MessageType, readMessages } from "./message-notation.ts";

/**
 * The messages that Kubernetes clients send as protobuf for the kinds of this server, one a line: its name, and its fields by their number.
 * Source: the `generated.proto` files of k8s.io/api v0.35 and k8s.io/apimachinery, read by a script.
 */
export const messages: Readonly<Record<string, MessageType>> = readMessages(`
ObjectMeta name generateName namespace selfLink uid resourceVersion generation:int? creationTimestamp:Time deletionTimestamp:Time deletionGracePeriodSeconds:int labels:string{} annotations:string{} ownerReferences:OwnerReference[] finalizers:string[]
OwnerReference kind - name uid apiVersion controller:bool blockOwnerDeletion:bool
ObjectReference kind namespace name uid apiVersion resourceVersion fieldPath
LocalObjectReference name
LabelSelector matchLabels:string{} matchExpressions:LabelSelectorRequirement[]
LabelSelectorRequirement key operator values:string[]
Preconditions uid resourceVersion
v1.DeleteOptions gracePeriodSeconds:int preconditions:Preconditions orphanDependents:bool propagationPolicy dryRun:string[]
v1.Namespace metadata:ObjectMeta spec:NamespaceSpec status:NamespaceStatus
NamespaceSpec finalizers:string[]
NamespaceStatus phase
v1.ConfigMap metadata:ObjectMeta data:string{} binaryData:bytes{} immutable:bool
v1.Secret metadata:ObjectMeta data:bytes{} type stringData:string{} immutable:bool
v1.ServiceAccount metadata:ObjectMeta secrets:ObjectReference[] imagePullSecrets:LocalObjectReference[] automountServiceAccountToken:bool
v1.Event metadata:ObjectMeta involvedObject:ObjectReference reason message source:EventSource firstTimestamp:Time lastTimestamp:Time count:int type eventTime:MicroTime series:EventSeries action related:ObjectReference reportingComponent reportingInstance
EventSource component host
EventSeries count:int lastObservedTime:MicroTime
policy/v1.Eviction metadata:ObjectMeta deleteOptions:v1.DeleteOptions
policy/v1.PodDisruptionBudget metadata:ObjectMeta spec:PodDisruptionBudgetSpec
PodDisruptionBudgetSpec minAvailable:IntOrString selector:LabelSelector maxUnavailable:IntOrString unhealthyPodEvictionPolicy
coordination.k8s.io/v1.Lease metadata:ObjectMeta spec:LeaseSpec
LeaseSpec holderIdentity leaseDurationSeconds:int acquireTime:MicroTime renewTime:MicroTime leaseTransitions:int strategy preferredHolder
authorization.k8s.io/v1.SelfSubjectAccessReview metadata:ObjectMeta spec:SelfSubjectAccessReviewSpec
SelfSubjectAccessReviewSpec resourceAttributes:ResourceAttributes nonResourceAttributes:NonResourceAttributes
ResourceAttributes namespace verb group version resource subresource name
NonResourceAttributes path verb
authorization.k8s.io/v1.SelfSubjectRulesReview metadata:ObjectMeta spec:SelfSubjectRulesReviewSpec
SelfSubjectRulesReviewSpec namespace
authentication.k8s.io/v1.SelfSubjectReview metadata:ObjectMeta
apps/v1.DaemonSet metadata:ObjectMeta spec:DaemonSetSpec
apps/v1.Deployment metadata:ObjectMeta spec:DeploymentSpec
apps/v1.ReplicaSet metadata:ObjectMeta spec:ReplicaSetSpec
apps/v1.StatefulSet metadata:ObjectMeta spec:StatefulSetSpec
rbac.authorization.k8s.io/v1.ClusterRole metadata:ObjectMeta rules:PolicyRule[] aggregationRule:AggregationRule
rbac.authorization.k8s.io/v1.ClusterRoleBinding metadata:ObjectMeta subjects:Subject[] roleRef:RoleRef
rbac.authorization.k8s.io/v1.Role metadata:ObjectMeta rules:PolicyRule[]
rbac.authorization.k8s.io/v1.RoleBinding metadata:ObjectMeta subjects:Subject[] roleRef:RoleRef
storage.k8s.io/v1.CSINode metadata:ObjectMeta spec:CSINodeSpec
storage.k8s.io/v1.StorageClass metadata:ObjectMeta provisioner parameters:string{} reclaimPolicy mountOptions:string[] allowVolumeExpansion:bool volumeBindingMode allowedTopologies:TopologySelectorTerm[]
storage.k8s.io/v1.VolumeAttachment metadata:ObjectMeta spec:VolumeAttachmentSpec
v1.Binding metadata:ObjectMeta target:ObjectReference
v1.Node metadata:ObjectMeta spec:NodeSpec
v1.PersistentVolume metadata:ObjectMeta spec:PersistentVolumeSpec
v1.PersistentVolumeClaim metadata:ObjectMeta spec:PersistentVolumeClaimSpec
v1.Pod metadata:ObjectMeta spec:PodSpec
v1.Service metadata:ObjectMeta spec:ServiceSpec
AWSElasticBlockStoreVolumeSource volumeID fsType partition:int? readOnly:bool?
Affinity nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity
AggregationRule clusterRoleSelectors:LabelSelector[]
AppArmorProfile type localhostProfile
AzureDiskVolumeSource diskName diskURI cachingMode fsType readOnly:bool kind
AzureFilePersistentVolumeSource secretName shareName readOnly:bool? secretNamespace
AzureFileVolumeSource secretName shareName readOnly:bool?
CSINodeDriver name nodeID topologyKeys:string[] allocatable:VolumeNodeResources
CSINodeSpec drivers:CSINodeDriver[]
CSIPersistentVolumeSource driver volumeHandle readOnly:bool? fsType volumeAttributes:string{} controllerPublishSecretRef:SecretReference nodeStageSecretRef:SecretReference nodePublishSecretRef:SecretReference controllerExpandSecretRef:SecretReference nodeExpandSecretRef:SecretReference
CSIVolumeSource driver readOnly:bool fsType volumeAttributes:string{} nodePublishSecretRef:LocalObjectReference
Capabilities add:string[] drop:string[]
CephFSPersistentVolumeSource monitors:string[] path user secretFile secretRef:SecretReference readOnly:bool?
CephFSVolumeSource monitors:string[] path user secretFile secretRef:LocalObjectReference readOnly:bool?
CinderPersistentVolumeSource volumeID fsType readOnly:bool? secretRef:SecretReference
CinderVolumeSource volumeID fsType readOnly:bool? secretRef:LocalObjectReference
ClientIPConfig timeoutSeconds:int
ClusterTrustBundleProjection name signerName labelSelector:LabelSelector path optional:bool
ConfigMapEnvSource ~:LocalObjectReference optional:bool
ConfigMapKeySelector ~:LocalObjectReference key optional:bool
ConfigMapNodeConfigSource namespace name uid resourceVersion kubeletConfigKey
ConfigMapProjection ~:LocalObjectReference items:KeyToPath[] - optional:bool
ConfigMapVolumeSource ~:LocalObjectReference items:KeyToPath[] defaultMode:int optional:bool
Container name image command:string[] args:string[] workingDir ports:ContainerPort[] env:EnvVar[] resources:ResourceRequirements volumeMounts:VolumeMount[] livenessProbe:Probe readinessProbe:Probe lifecycle:Lifecycle terminationMessagePath imagePullPolicy securityContext:SecurityContext stdin:bool? stdinOnce:bool? tty:bool? envFrom:EnvFromSource[] terminationMessagePolicy volumeDevices:VolumeDevice[] startupProbe:Probe resizePolicy:ContainerResizePolicy[] restartPolicy restartPolicyRules:ContainerRestartRule[]
ContainerPort name hostPort:int? containerPort:int protocol hostIP
ContainerResizePolicy resourceName restartPolicy
ContainerRestartRule action exitCodes:ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes operator values:int[]
DaemonSetSpec selector:LabelSelector template:PodTemplateSpec updateStrategy:DaemonSetUpdateStrategy minReadySeconds:int? - revisionHistoryLimit:int
DaemonSetUpdateStrategy type rollingUpdate:RollingUpdateDaemonSet
DeploymentSpec replicas:int selector:LabelSelector template:PodTemplateSpec strategy:DeploymentStrategy minReadySeconds:int? revisionHistoryLimit:int paused:bool? - progressDeadlineSeconds:int
DeploymentStrategy type rollingUpdate:RollingUpdateDeployment
DownwardAPIProjection items:DownwardAPIVolumeFile[]
DownwardAPIVolumeFile path fieldRef:ObjectFieldSelector resourceFieldRef:ResourceFieldSelector mode:int
DownwardAPIVolumeSource items:DownwardAPIVolumeFile[] defaultMode:int
EmptyDirVolumeSource medium sizeLimit:Quantity
EnvFromSource prefix configMapRef:ConfigMapEnvSource secretRef:SecretEnvSource
EnvVar name value valueFrom:EnvVarSource
EnvVarSource fieldRef:ObjectFieldSelector resourceFieldRef:ResourceFieldSelector configMapKeyRef:ConfigMapKeySelector secretKeyRef:SecretKeySelector fileKeyRef:FileKeySelector
EphemeralContainer ~:EphemeralContainerCommon targetContainerName
EphemeralContainerCommon name image command:string[] args:string[] workingDir ports:ContainerPort[] env:EnvVar[] resources:ResourceRequirements volumeMounts:VolumeMount[] livenessProbe:Probe readinessProbe:Probe lifecycle:Lifecycle terminationMessagePath imagePullPolicy securityContext:SecurityContext stdin:bool? stdinOnce:bool? tty:bool? envFrom:EnvFromSource[] terminationMessagePolicy volumeDevices:VolumeDevice[] startupProbe:Probe resizePolicy:ContainerResizePolicy[] restartPolicy restartPolicyRules:ContainerRestartRule[]
EphemeralVolumeSource volumeClaimTemplate:PersistentVolumeClaimTemplate
ExecAction command:string[]
FCVolumeSource targetWWNs:string[] lun:int fsType readOnly:bool? wwids:string[]
FileKeySelector volumeName path key optional:bool
FlexPersistentVolumeSource driver fsType secretRef:SecretReference readOnly:bool? options:string{}
FlexVolumeSource driver fsType secretRef:LocalObjectReference readOnly:bool? options:string{}
FlockerVolumeSource datasetName datasetUUID
GCEPersistentDiskVolumeSource pdName fsType partition:int? readOnly:bool?
GRPCAction port:int service
GitRepoVolumeSource repository revision directory
GlusterfsPersistentVolumeSource endpoints path readOnly:bool? endpointsNamespace
GlusterfsVolumeSource endpoints path readOnly:bool?
HTTPGetAction path port:IntOrString host scheme httpHeaders:HTTPHeader[]
HTTPHeader name value
HostAlias ip hostnames:string[]
HostPathVolumeSource path type
ISCSIPersistentVolumeSource targetPortal iqn lun:int iscsiInterface fsType readOnly:bool? portals:string[] chapAuthDiscovery:bool? - secretRef:SecretReference chapAuthSession:bool? initiatorName
ISCSIVolumeSource targetPortal iqn lun:int iscsiInterface fsType readOnly:bool? portals:string[] chapAuthDiscovery:bool? - secretRef:LocalObjectReference chapAuthSession:bool? initiatorName
ImageVolumeSource reference pullPolicy
KeyToPath key path mode:int
Lifecycle postStart:LifecycleHandler preStop:LifecycleHandler stopSignal
LifecycleHandler exec:ExecAction httpGet:HTTPGetAction tcpSocket:TCPSocketAction sleep:SleepAction
LocalVolumeSource path fsType
NFSVolumeSource server path readOnly:bool?
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution:NodeSelector preferredDuringSchedulingIgnoredDuringExecution:PreferredSchedulingTerm[]
NodeConfigSource - configMap:ConfigMapNodeConfigSource
NodeSelector nodeSelectorTerms:NodeSelectorTerm[]
NodeSelectorRequirement key operator values:string[]
NodeSelectorTerm matchExpressions:NodeSelectorRequirement[] matchFields:NodeSelectorRequirement[]
NodeSpec podCIDR externalID providerID unschedulable:bool? taints:Taint[] configSource:NodeConfigSource podCIDRs:string[]
ObjectFieldSelector apiVersion fieldPath
PersistentVolumeClaim metadata:ObjectMeta spec:PersistentVolumeClaimSpec
PersistentVolumeClaimSpec accessModes:string[] resources:VolumeResourceRequirements volumeName selector:LabelSelector storageClassName volumeMode dataSource:TypedLocalObjectReference dataSourceRef:TypedObjectReference volumeAttributesClassName
PersistentVolumeClaimTemplate metadata:ObjectMeta spec:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName readOnly:bool?
PersistentVolumeSource gcePersistentDisk:GCEPersistentDiskVolumeSource awsElasticBlockStore:AWSElasticBlockStoreVolumeSource hostPath:HostPathVolumeSource glusterfs:GlusterfsPersistentVolumeSource nfs:NFSVolumeSource rbd:RBDPersistentVolumeSource iscsi:ISCSIPersistentVolumeSource cinder:CinderPersistentVolumeSource cephfs:CephFSPersistentVolumeSource fc:FCVolumeSource flocker:FlockerVolumeSource flexVolume:FlexPersistentVolumeSource azureFile:AzureFilePersistentVolumeSource vsphereVolume:VsphereVirtualDiskVolumeSource quobyte:QuobyteVolumeSource azureDisk:AzureDiskVolumeSource photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource scaleIO:ScaleIOPersistentVolumeSource local:LocalVolumeSource storageos:StorageOSPersistentVolumeSource csi:CSIPersistentVolumeSource
PersistentVolumeSpec capacity:Quantity{} ~:PersistentVolumeSource accessModes:string[] claimRef:ObjectReference persistentVolumeReclaimPolicy storageClassName mountOptions:string[] volumeMode nodeAffinity:VolumeNodeAffinity volumeAttributesClassName
PhotonPersistentDiskVolumeSource pdID fsType
PodAffinity requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm[] preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm[]
PodAffinityTerm labelSelector:LabelSelector namespaces:string[] topologyKey namespaceSelector:LabelSelector matchLabelKeys:string[] mismatchLabelKeys:string[]
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm[] preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm[]
PodCertificateProjection signerName keyType maxExpirationSeconds:int credentialBundlePath keyPath certificateChainPath userAnnotations:string{}
PodDNSConfig nameservers:string[] searches:string[] options:PodDNSConfigOption[]
PodDNSConfigOption name value
PodOS name
PodReadinessGate conditionType
PodResourceClaim name - resourceClaimName resourceClaimTemplateName
PodSchedulingGate name
PodSecurityContext seLinuxOptions:SELinuxOptions runAsUser:int runAsNonRoot:bool supplementalGroups:int[] fsGroup:int runAsGroup:int sysctls:Sysctl[] windowsOptions:WindowsSecurityContextOptions fsGroupChangePolicy seccompProfile:SeccompProfile appArmorProfile:AppArmorProfile supplementalGroupsPolicy seLinuxChangePolicy
PodSpec volumes:Volume[] containers:Container[] restartPolicy terminationGracePeriodSeconds:int activeDeadlineSeconds:int dnsPolicy nodeSelector:string{} serviceAccountName serviceAccount nodeName hostNetwork:bool? hostPID:bool? hostIPC:bool? securityContext:PodSecurityContext imagePullSecrets:LocalObjectReference[] hostname subdomain affinity:Affinity schedulerName initContainers:Container[] automountServiceAccountToken:bool tolerations:Toleration[] hostAliases:HostAlias[] priorityClassName priority:int dnsConfig:PodDNSConfig shareProcessNamespace:bool readinessGates:PodReadinessGate[] runtimeClassName enableServiceLinks:bool preemptionPolicy overhead:Quantity{} topologySpreadConstraints:TopologySpreadConstraint[] ephemeralContainers:EphemeralContainer[] setHostnameAsFQDN:bool os:PodOS hostUsers:bool schedulingGates:PodSchedulingGate[] resourceClaims:PodResourceClaim[] resources:ResourceRequirements hostnameOverride workloadRef:WorkloadReference
PodTemplateSpec metadata:ObjectMeta spec:PodSpec
PolicyRule verbs:string[] apiGroups:string[] resources:string[] resourceNames:string[] nonResourceURLs:string[]
PortworxVolumeSource volumeID fsType readOnly:bool?
PreferredSchedulingTerm weight:int preference:NodeSelectorTerm
Probe ~:ProbeHandler initialDelaySeconds:int? timeoutSeconds:int? periodSeconds:int? successThreshold:int? failureThreshold:int? terminationGracePeriodSeconds:int
ProbeHandler exec:ExecAction httpGet:HTTPGetAction tcpSocket:TCPSocketAction grpc:GRPCAction
ProjectedVolumeSource sources:VolumeProjection[] defaultMode:int
QuobyteVolumeSource registry volume readOnly:bool? user group tenant
RBDPersistentVolumeSource monitors:string[] image fsType pool user keyring secretRef:SecretReference readOnly:bool?
RBDVolumeSource monitors:string[] image fsType pool user keyring secretRef:LocalObjectReference readOnly:bool?
ReplicaSetSpec replicas:int selector:LabelSelector template:PodTemplateSpec minReadySeconds:int?
ResourceClaim name request
ResourceFieldSelector containerName resource divisor:Quantity
ResourceRequirements limits:Quantity{} requests:Quantity{} claims:ResourceClaim[]
RoleRef apiGroup kind name
RollingUpdateDaemonSet maxUnavailable:IntOrString maxSurge:IntOrString
RollingUpdateDeployment maxUnavailable:IntOrString maxSurge:IntOrString
RollingUpdateStatefulSetStrategy partition:int maxUnavailable:IntOrString
SELinuxOptions user role type level
ScaleIOPersistentVolumeSource gateway system secretRef:SecretReference sslEnabled:bool? protectionDomain storagePool storageMode volumeName fsType readOnly:bool?
ScaleIOVolumeSource gateway system secretRef:LocalObjectReference sslEnabled:bool? protectionDomain storagePool storageMode volumeName fsType readOnly:bool?
SeccompProfile type localhostProfile
SecretEnvSource ~:LocalObjectReference optional:bool
SecretKeySelector ~:LocalObjectReference key optional:bool
SecretProjection ~:LocalObjectReference items:KeyToPath[] - optional:bool
SecretReference name namespace
SecretVolumeSource secretName items:KeyToPath[] defaultMode:int optional:bool
SecurityContext capabilities:Capabilities privileged:bool seLinuxOptions:SELinuxOptions runAsUser:int runAsNonRoot:bool readOnlyRootFilesystem:bool allowPrivilegeEscalation:bool runAsGroup:int procMount windowsOptions:WindowsSecurityContextOptions seccompProfile:SeccompProfile appArmorProfile:AppArmorProfile
ServiceAccountTokenProjection audience expirationSeconds:int path
ServicePort name protocol port:int targetPort:IntOrString nodePort:int? appProtocol
ServiceSpec ports:ServicePort[] selector:string{} clusterIP type externalIPs:string[] - sessionAffinity loadBalancerIP loadBalancerSourceRanges:string[] externalName externalTrafficPolicy healthCheckNodePort:int? publishNotReadyAddresses:bool? sessionAffinityConfig:SessionAffinityConfig - - ipFamilyPolicy clusterIPs:string[] ipFamilies:string[] allocateLoadBalancerNodePorts:bool loadBalancerClass internalTrafficPolicy trafficDistribution
SessionAffinityConfig clientIP:ClientIPConfig
SleepAction seconds:int
StatefulSetOrdinals start:int
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted whenScaled
StatefulSetSpec replicas:int selector:LabelSelector template:PodTemplateSpec volumeClaimTemplates:PersistentVolumeClaim[] serviceName podManagementPolicy updateStrategy:StatefulSetUpdateStrategy revisionHistoryLimit:int minReadySeconds:int? persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy ordinals:StatefulSetOrdinals
StatefulSetUpdateStrategy type rollingUpdate:RollingUpdateStatefulSetStrategy
StorageOSPersistentVolumeSource volumeName volumeNamespace fsType readOnly:bool? secretRef:ObjectReference
StorageOSVolumeSource volumeName volumeNamespace fsType readOnly:bool? secretRef:LocalObjectReference
Subject kind apiGroup name namespace
Sysctl name value
TCPSocketAction port:IntOrString host
Taint key value effect timeAdded:Time
Toleration key operator value effect tolerationSeconds:int
TopologySelectorLabelRequirement key values:string[]
TopologySelectorTerm matchLabelExpressions:TopologySelectorLabelRequirement[]
TopologySpreadConstraint maxSkew:int topologyKey whenUnsatisfiable labelSelector:LabelSelector minDomains:int nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys:string[]
TypedLocalObjectReference apiGroup kind name
TypedObjectReference apiGroup kind name namespace
Volume name ~:VolumeSource
VolumeAttachmentSource persistentVolumeName inlineVolumeSpec:PersistentVolumeSpec
VolumeAttachmentSpec attacher source:VolumeAttachmentSource nodeName
VolumeDevice name devicePath
VolumeMount name readOnly:bool? mountPath subPath mountPropagation subPathExpr recursiveReadOnly
VolumeNodeAffinity required:NodeSelector
VolumeNodeResources count:int
VolumeProjection secret:SecretProjection downwardAPI:DownwardAPIProjection configMap:ConfigMapProjection serviceAccountToken:ServiceAccountTokenProjection clusterTrustBundle:ClusterTrustBundleProjection podCertificate:PodCertificateProjection
VolumeResourceRequirements limits:Quantity{} requests:Quantity{}
VolumeSource hostPath:HostPathVolumeSource emptyDir:EmptyDirVolumeSource gcePersistentDisk:GCEPersistentDiskVolumeSource awsElasticBlockStore:AWSElasticBlockStoreVolumeSource gitRepo:GitRepoVolumeSource secret:SecretVolumeSource nfs:NFSVolumeSource iscsi:ISCSIVolumeSource glusterfs:GlusterfsVolumeSource persistentVolumeClaim:PersistentVolumeClaimVolumeSource rbd:RBDVolumeSource flexVolume:FlexVolumeSource cinder:CinderVolumeSource cephfs:CephFSVolumeSource flocker:FlockerVolumeSource downwardAPI:DownwardAPIVolumeSource fc:FCVolumeSource azureFile:AzureFileVolumeSource configMap:ConfigMapVolumeSource vsphereVolume:VsphereVirtualDiskVolumeSource quobyte:QuobyteVolumeSource azureDisk:AzureDiskVolumeSource photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource scaleIO:ScaleIOVolumeSource projected:ProjectedVolumeSource storageos:StorageOSVolumeSource csi:CSIVolumeSource ephemeral:EphemeralVolumeSource image:ImageVolumeSource
VsphereVirtualDiskVolumeSource volumePath fsType storagePolicyName storagePolicyID
WeightedPodAffinityTerm weight:int podAffinityTerm:PodAffinityTerm
WindowsSecurityContextOptions gmsaCredentialSpecName gmsaCredentialSpec runAsUserName hostProcess:bool
WorkloadReference name podGroup podGroupReplicaKey
`);
