// SPDX-License-Identifier: Apache-2.0
#include "region/training/image.h"

#include "base/strings.h"

namespace meridian::region::training {
namespace {

using Answer = base::Result<Program, std::string>;

// What a known family's script needs; the repository's name holds the key.
struct Family {
  std::string_view key, framework, module, package;
};
constexpr Family kFamilies[] = {
    {"pytorch", "PyTorch", "torch", "python3-torch"},
    {"tensorflow", "TensorFlow", "tensorflow", "tensorflow"},
    {"mxnet", "MXNet", "mxnet", "mxnet"},
    {"huggingface", "Hugging Face Transformers", "transformers", "transformers"},
    {"scikit-learn", "scikit-learn", "sklearn", "python3-sklearn"},
    {"sklearn", "scikit-learn", "sklearn", "python3-sklearn"},
    {"xgboost", "XGBoost", "xgboost", "python3-xgboost"},
    {"chainer", "Chainer", "chainer", "chainer"},
};

const Family* find_family(std::string_view repository) {
  for (const Family& family : kFamilies)
    if (repository.find(family.key) != std::string_view::npos) return &family;
  return nullptr;
}

Program on_host(const std::string& python, const std::string& why) {
  return {Program::Kind::host, python, "", "host runtime with " + python + " (" + why + ")"};
}

Program in_container(const std::string& image, const std::string& why) {
  return {Program::Kind::oci, "", image, "container image " + image + " (" + why + ")"};
}

Answer by_rule(const ImageRule& rule, const ImageQuestion& question, const HostProbe& probe) {
  const std::string why = "image rule '" + rule.pattern + "' of the configuration";
  if (rule.target == "host") return on_host(question.python, why);
  if (rule.target.starts_with("host:")) return on_host(rule.target.substr(5), why);
  if (auto local = probe.find_oci_image(rule.target)) return in_container(*local, why);
  return std::string("the image " + rule.target + ", which " + why +
                     " names, is not on this machine; pull or build it with podman");
}

// 763104351884.dkr.ecr.us-west-2.amazonaws.com/NAME:TAG → NAME:TAG
std::optional<std::string> without_registry(const std::string& image) {
  auto slash = image.find('/');
  if (slash == std::string::npos) return std::nullopt;
  std::string registry = image.substr(0, slash);
  if (registry.find(".dkr.ecr.") == std::string::npos) return std::nullopt;
  return image.substr(slash + 1);
}

std::optional<Answer> by_family(const ImageQuestion& question, const HostProbe& probe) {
  std::string repository = repository_name(question.image);
  const Family* family = find_family(repository);
  if (!family) return std::nullopt;
  if (family->key == "xgboost" && !question.has_script && !question.has_entrypoint)
    return Program{Program::Kind::xgboost, "", "", "the built-in algorithm meridian-xgboost"};
  if (!question.has_script && !question.has_entrypoint)
    return std::string("the image " + question.image + " is not on this machine, and without " +
                       "sagemaker_program (script mode) or ContainerEntrypoint there is nothing " +
                       "that " + question.python + " could run in its place");
  if (auto error = probe.import_error(question.python, std::string(family->module)))
    return std::string("the image " + question.image + " stands for " +
                       std::string(family->framework) + ", but " + question.python +
                       " can't import " + std::string(family->module) + " (" + *error +
                       "). Install the package " + std::string(family->package) +
                       ", or map the image to an interpreter that has it by an image rule "
                       "(target host:PYTHON)");
  return on_host(question.python, "known family " + std::string(family->framework));
}

std::string no_way(const std::string& image) {
  return "no program is known for the image '" + image +
         "'. Ways to give it one: (1) an image rule in config.yaml (images: pattern → host, "
         "host:PYTHON or an OCI reference); (2) a local OCI image of that name (podman pull or "
         "podman build); (3) an image of a known family (pytorch, tensorflow, scikit-learn, "
         "xgboost, huggingface, mxnet) with sagemaker_program; (4) the reserved image 'host' "
         "with ContainerEntrypoint";
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  // Greedy with one level of backtracking: linear but for the last star.
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string repository_name(std::string_view image) {
  std::string_view name =
      image.substr(image.rfind('/') == std::string_view::npos ? 0 : image.rfind('/') + 1);
  name = name.substr(0, name.find('@'));
  return std::string(name.substr(0, name.find(':')));
}

Answer decide_program(const ImageQuestion& question, const std::vector<ImageRule>& rules,
                      const HostProbe& probe) {
  for (const ImageRule& rule : rules)
    if (glob_matches(rule.pattern, question.image)) return by_rule(rule, question, probe);
  if (question.image == "host") {
    if (question.has_script || question.has_entrypoint)
      return on_host(question.python, "reserved image 'host'");
    return std::string(
        "the image 'host' runs the given entry point: give ContainerEntrypoint, or "
        "sagemaker_program (script mode)");
  }
  std::vector<std::string> names{question.image};
  if (auto local = without_registry(question.image)) names.push_back(*local);
  for (const std::string& name : names)
    if (auto found = probe.find_oci_image(name))
      return in_container(*found, "found on this machine");
  if (auto answer = by_family(question, probe)) return *answer;
  return no_way(question.image);
}

}  // namespace meridian::region::training
