// Validates the pods of manifests, read from stdin, as the API server of Kubernetes does. scripts/check-kubernetes runs it.
package main

import (
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	_ "k8s.io/kubernetes/pkg/features"
)

func main() {
	failed := false
	reader := yaml.NewYAMLOrJSONDecoder(os.Stdin, 4096)
	for {
		raw := runtime.RawExtension{}
		if err := reader.Decode(&raw); err == io.EOF {
			break
		} else if err != nil {
			panic(err)
		}
		obj, kind, err := legacyscheme.Codecs.UniversalDeserializer().Decode(raw.Raw, nil, nil)
		if err != nil {
			continue // of a group that has no pods
		}
		legacyscheme.Scheme.Default(obj)
		var template *core.PodTemplateSpec
		switch kind.Kind {
		case "Deployment":
			in := &apps.Deployment{}
			if err := legacyscheme.Scheme.Convert(obj, in, nil); err != nil {
				panic(err)
			}
			template = &in.Spec.Template
		case "StatefulSet":
			in := &apps.StatefulSet{}
			if err := legacyscheme.Scheme.Convert(obj, in, nil); err != nil {
				panic(err)
			}
			template = &in.Spec.Template
			for _, claim := range in.Spec.VolumeClaimTemplates {
				template.Spec.Volumes = append(template.Spec.Volumes, core.Volume{
					Name:         claim.Name,
					VolumeSource: core.VolumeSource{EmptyDir: &core.EmptyDirVolumeSource{}},
				})
			}
		case "CronJob":
			in := &batch.CronJob{}
			if err := legacyscheme.Scheme.Convert(obj, in, nil); err != nil {
				panic(err)
			}
			template = &in.Spec.JobTemplate.Spec.Template
		default:
			continue
		}
		wanted := procMounts(template)
		podutil.DropDisabledTemplateFields(template, nil)
		opts := podutil.GetValidationOptionsFromPodTemplate(template, nil)
		errs := validation.ValidatePodTemplateSpec(template, field.NewPath("template"), opts)
		for _, each := range errs {
			fmt.Printf("%s is refused: %s\n", kind.Kind, each)
			failed = true
		}
		if len(errs) == 0 {
			fmt.Println(kind.Kind, "is accepted")
		}
		if wanted != procMounts(template) {
			fmt.Println("  without procMount, as a feature gate is off by default")
		}
	}
	if failed {
		os.Exit(1)
	}
}

func procMounts(template *core.PodTemplateSpec) (mounts string) {
	for _, each := range template.Spec.Containers {
		if each.SecurityContext != nil && each.SecurityContext.ProcMount != nil {
			mounts += string(*each.SecurityContext.ProcMount)
		}
	}
	return
}
