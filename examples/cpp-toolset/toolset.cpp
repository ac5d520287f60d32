// A toolset in C++ with state that its calls share. Build it with:
//
//     c++ -O2 -shared -fPIC -fvisibility=hidden -I ../../plugin-api/include -o libtally.so toolset.cpp
//
// A skill names it as `toolsets/tally:TallyToolset`.
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "repertoire.h"

namespace {

const char DESCRIPTION[] = R"({
  "description": "Counts words.",
  "tools": [
    {
      "name": "count",
      "description": "Counts one more of a word, and tells how many there are.",
      "parameters": {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": false
      }
    },
    {
      "name": "where",
      "description": "Tells what the host says about the call.",
      "parameters": {"type": "object", "properties": {}}
    }
  ]
})";

/// The counts. Calls from several threads may change them at once.
class Tally {
public:
    size_t count(const std::string &word) {
        std::lock_guard<std::mutex> lock(mutex);
        return ++counts[word];
    }

private:
    std::mutex mutex;
    std::map<std::string, size_t> counts;
};

/// Returns the text of an argument.
std::string argument(repertoire_text arguments, const char *key) {
    std::unique_ptr<char, decltype(&free)> text(repertoire_string(arguments, key), &free);
    return text ? std::string(text.get()) : std::string();
}

uint32_t answer(repertoire_host *host, const std::string &text) {
    return repertoire_answer(host, {text.data(), text.size()});
}

/// Runs a function. Exceptions do not leave it; they become failures of the call.
template <class Run> uint32_t guarded(repertoire_host *host, Run run) noexcept {
    try {
        return run();
    } catch (const std::exception &error) {
        return repertoire_fail(host, REPERTOIRE_FAILED, error.what());
    } catch (...) {
        return repertoire_fail(host, REPERTOIRE_FAILED, "an unknown exception");
    }
}

uint32_t create(repertoire_host *host, repertoire_text, repertoire_text, void **toolset) {
    return guarded(host, [&]() -> uint32_t {
        *toolset = new Tally();
        return REPERTOIRE_OK;
    });
}

uint32_t describe(repertoire_host *host, void *) {
    host->write(host, repertoire_str(DESCRIPTION));
    return REPERTOIRE_OK;
}

uint32_t call(repertoire_host *host, void *toolset, repertoire_text tool, repertoire_text arguments) {
    return guarded(host, [&]() -> uint32_t {
        if (repertoire_is(tool, "count")) {
            const std::string word = argument(arguments, "word");
            if (word.empty()) {
                throw std::invalid_argument("no word to count");
            }
            return answer(host, std::to_string(static_cast<Tally *>(toolset)->count(word)));
        }
        if (repertoire_is(tool, "where")) {
            uint32_t result = REPERTOIRE_OK;
            const repertoire_text nothing = repertoire_str("null");
            const repertoire_text method = repertoire_str("repertoire/call-info");
            const repertoire_text said = host->request(host, method, nothing, &result);
            return result == REPERTOIRE_OK ? repertoire_answer(host, said) : result;
        }
        return repertoire_fail(host, REPERTOIRE_UNKNOWN_TOOL, "there is no such tool");
    });
}

void destroy(void *toolset) { delete static_cast<Tally *>(toolset); }

} // namespace

REPERTOIRE_EXPORT("tally", "0.1.0", REPERTOIRE_CLASS(TallyToolset), create, describe, call, destroy)
