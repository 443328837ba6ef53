// A folder of receipts, with a file for each deal-set.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "deal_set.hpp"

namespace cardarena::detail {

/// Each bot needs a folder of its own. A restarted bot reads its entropy from it, because a receipt is
/// written before the bot reveals anything.
class ReceiptFolder {
 public:
  /// Throws std::filesystem::filesystem_error if the folder cannot be made.
  explicit ReceiptFolder(std::filesystem::path path);

  /// Writes the receipt. A failure leaves the previous receipt as it was, and throws std::system_error.
  void write(const DealSet& deal) const;

  /// The receipt of a deal-set; nothing if there is no valid one. Without a participant, that of any; nothing
  /// if there are several.
  std::optional<DealSet> read(const std::string& context, const std::string& participant) const;

 private:
  std::filesystem::path path_;
};

}  // namespace cardarena::detail
